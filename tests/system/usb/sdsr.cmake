# Boards whose data scans alternate between SDDR and SDSR, through every JTAG adapter: the tutorial, and finding the board again.
foreach(M "ftdi;ftdi;ft2232h" "cmsis_dap_v2;cmsis-dap;cmsis-dap" "cmsis_dap_v1;cmsis-dap;cmsis-dap,v1" "jlink;jlink;jlink"
          "chain;jlink;--chain;idcode=0x4ba00477,ir=4;--chain;after:ir=8;jlink")
  list(POP_FRONT M NAME PROBE)
  pp_usb_test(tutorial_sdsr_${NAME} RIG --board sim:sh7750,sdsr=alternate ${M}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tutorial.py $<TARGET_FILE:probeprof> ${PROBE})
  pp_usb_test(replug_sdsr_${NAME} RIG --control replug-sdsr-${NAME}.sock --board sim:sh7750,sdsr=alternate ${M}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/replug.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE})
endforeach()
