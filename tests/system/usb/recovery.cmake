# Adapters that go away and come back. While a run is only beginning: pulled at transfer FIRST and later, until it was met in each phase.
function(pp_early_test NAME FIRST)
  pp_usb_script(early_${NAME} early RIG --control early-${NAME}.sock --board sim:${${NAME}_PART} ${${NAME}_MODEL}
                ARGS ${${NAME}_PROBE} ${${NAME}_PART} ${FIRST} ${ARGN})
endfunction()
pp_early_test(ftdi           1 load: arming)
pp_early_test(cmsis_dap_v2  80 load: arming)
pp_early_test(cmsis_dap_v1 400 load: arming)
pp_early_test(jlink         30 load: arming)
pp_early_test(usbdm         30 load:)
pp_early_test(usbdm_v5      30 load:)
pp_early_test(osbdm         30 load:)
# pp_gone_test(NAME KIND SCRIPT): a script that pulls the adapter by the rig's control.
function(pp_gone_test NAME KIND SCRIPT)
  pp_usb_script(${KIND}_${NAME} ${SCRIPT} RIG --control ${KIND}-${NAME}.sock --board sim:${${NAME}_PART} ${${NAME}_MODEL}
                ARGS ${${NAME}_PROBE} ${${NAME}_PART})
endfunction()
# GDB and a profile while the adapter is pulled or hangs and the board loses its power; the adapter is pulled again while it is got back; Ctrl-C
# in GDB about when it is pulled.
foreach(A ${JTAG_ADAPTERS})
  pp_gone_test(${A} recover recover)
endforeach()
foreach(A ftdi cmsis_dap_v2 usbdm)
  pp_gone_test(${A} again recover_again)
endforeach()
foreach(A ftdi cmsis_dap_v2 jlink)
  pp_usb_script(ctrl_c_${A} recover_ctrl_c RIG --control ctrl-c-${A}.sock --board sim:sh7750 ${${A}_MODEL} ARGS ${${A}_PROBE} sh7750)
endforeach()
foreach(A ${BDC_ADAPTERS})
  pp_usb_script(recover_${A} motor RIG --control recover-${A}.sock --board sim:s12zvml128 ${${A}_MODEL} ARGS ${${A}_PROBE} recover)
endforeach()
# A killed program is in nobody's way. Profiles and debuggers that are killed leave a board that the next attach finds as if it had never been
# traced.
foreach(A ${JTAG_ADAPTERS} ${BDC_ADAPTERS})
  pp_usb_script(killed_${A} killed RIG --control killed-${A}.sock --board sim:${${A}_PART} ${${A}_MODEL} ARGS ${${A}_PROBE} ${${A}_PART})
endforeach()
foreach(A ${JTAG_ADAPTERS})
  pp_usb_script(killed_traced_${A} killed_traced RIG --control killed-traced-${A}.sock --board sim:sh7750 ${${A}_MODEL} ARGS ${${A}_PROBE})
endforeach()
# Readers of the live feed meanwhile.
foreach(M "ftdi;ftdi;sh7750;profexam;ft2232h" "usbdm;usbdm;s12zvml128;motor;usbdm")
  list(POP_FRONT M NAME PROBE TARGET FOLDER MODEL)
  pp_usb_test(feed_replug_${NAME} RIG --control feed-replug-${NAME}.sock --board sim:${TARGET} ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/feed.py $<TARGET_FILE:probeprof> ${PROBE} ${TARGET} ${FOLDER})
endforeach()
