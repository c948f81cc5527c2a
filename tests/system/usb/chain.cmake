# Other devices on the chain; what a scan leaves open is asked.
pp_tutorial_test(chain_of_two jlink --chain idcode=0x4ba00477,ir=4 jlink)
pp_tutorial_test(chain_of_four jlink --chain idcode=0x12345679,ir=16 --chain after:idcode=0x4ba00477,ir=5 --chain after:ir=8 jlink)
pp_tutorial_test(chain_named jlink --chain ir=16 --chain after:ir=3 jlink OPTIONS --chain "16,16*,3")
pp_program_says(chain_ambiguous 1 "may stand at 2 places" RIG --board sim:sh7750 --chain ir=16 jlink
                ARGS --probe jlink --target sh7750 --private --no-profile --gdb 0)
pp_doctor_says(chain_doctor "2 devices (4BA00477 Arm, no IDCODE), instruction registers of 20 bits ok part sh7750, its program runs"
               RIG --board sim:sh7750 --chain idcode=0x4ba00477,ir=4 jlink ARGS --private)
pp_program_says(chain_doctor_ambiguous 1 "may stand at 2 places" RIG --board sim:sh7750 --chain ir=16 jlink ARGS doctor --target sh7750 --private)
pp_replug_test(chain jlink --chain idcode=0x4ba00477,ir=4 --chain after:idcode=0x12345679,ir=7 jlink,mem=4096)
# Eight others, four on either side; and as many without IDCODE, whose lengths leave one place for the part.
pp_program_says(chain_of_nine 0 "9 devices"
                RIG --board sim:sh7750 --chain idcode=0x12345671,ir=4 --chain idcode=0x12345673,ir=5 --chain idcode=0x12345675,ir=6
                    --chain idcode=0x12345677,ir=7 --chain after:idcode=0x22345671,ir=3 --chain after:idcode=0x22345673,ir=4
                    --chain after:idcode=0x22345675,ir=5 --chain after:idcode=0x22345677,ir=6 jlink
                ARGS doctor --target sh7750 --private --halt)
pp_program_says(chain_of_eight_nameless 0 "number 5 from TDI"
                RIG --board sim:sh7750 --chain ir=4 --chain ir=5 --chain ir=6 --chain ir=7 --chain after:ir=3 --chain after:ir=4 --chain after:ir=5 jlink
                ARGS doctor --target sh7750 --private --halt)
