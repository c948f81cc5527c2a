# Boards whose data scans alternate between SDDR and SDSR, through every JTAG adapter: the tutorial, and finding the board again.
function(pp_sdsr_tests NAME PROBE)
  pp_usb_script(tutorial_sdsr_${NAME} tutorial RIG --board sim:sh7750,sdsr=alternate ${ARGN} ARGS ${PROBE})
  pp_usb_script(replug_sdsr_${NAME} replug RIG --control replug-sdsr-${NAME}.sock --board sim:sh7750,sdsr=alternate ${ARGN}
                ARGS ${PROBE})
endfunction()
foreach(A ${JTAG_ADAPTERS})
  pp_sdsr_tests(${A} ${${A}_PROBE} ${${A}_MODEL})
endforeach()
pp_sdsr_tests(chain jlink --chain idcode=0x4ba00477,ir=4 --chain after:ir=8 jlink)
