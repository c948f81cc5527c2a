# Other devices on the chain; what a scan leaves open is asked.
pp_tutorial_test(chain_of_two jlink --chain idcode=0x4ba00477,ir=4 jlink)
pp_tutorial_test(chain_of_four jlink --chain idcode=0x12345679,ir=16 --chain after:idcode=0x4ba00477,ir=5 --chain after:ir=8 jlink)
pp_usb_says(chain_ambiguous 1 "may stand at 2 places" RIG --board sim:sh7750 --chain ir=16 jlink COMMAND $<TARGET_FILE:probeprof> --probe jlink --target sh7750
            --private --no-profile --gdb off)
pp_usb_test(tutorial_chain_named RIG --board sim:sh7750 --chain ir=16 --chain after:ir=3 jlink
            COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tutorial.py $<TARGET_FILE:probeprof> jlink --chain "16,16*,3")
pp_usb_says(chain_doctor 0 "2 devices (4BA00477 Arm, no IDCODE), instruction registers of 20 bits ok part sh7750, its program runs" RIG --board sim:sh7750 --chain idcode=0x4ba00477,ir=4 jlink COMMAND
            sh -c "$<TARGET_FILE:probeprof> doctor --target sh7750 --private | tr -s '\\n ' ' '")
pp_usb_says(chain_doctor_ambiguous 1 "may stand at 2 places" RIG --board sim:sh7750 --chain ir=16 jlink COMMAND $<TARGET_FILE:probeprof> doctor --target sh7750 --private)
pp_replug_test(chain jlink --chain idcode=0x4ba00477,ir=4 --chain after:idcode=0x12345679,ir=7 jlink,mem=4096)
