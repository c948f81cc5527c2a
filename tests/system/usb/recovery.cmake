# Adapters that go away and come back. While a run is only beginning: pulled at transfer FIRST and later, until it was met in each phase.
function(pp_early_test NAME PROBE TARGET MODEL FIRST)
  pp_usb_test(early_${NAME} RIG --control early-${NAME}.sock --board sim:${TARGET} ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/early.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE} ${TARGET} ${FIRST} ${ARGN})
endfunction()
pp_early_test(ftdi ftdi sh7750 ft2232h 1 load: arming)
pp_early_test(cmsis_dap_v2 cmsis-dap sh7750 cmsis-dap 80 load: arming)
pp_early_test(cmsis_dap_v1 cmsis-dap sh7750 cmsis-dap,v1 400 load: arming)
pp_early_test(jlink jlink sh7750 jlink 30 load: arming)
pp_early_test(usbdm usbdm s12zvml128 usbdm 30 load:)
pp_early_test(usbdm_v5 usbdm s12zvml128 usbdm,v5 30 load:)
pp_early_test(osbdm osbdm s12zvml128 osbdm 30 load:)
# GDB and a profile while the adapter is pulled or hangs and the board loses its power.
function(pp_recover_test NAME PROBE MODEL)
  pp_usb_test(recover_${NAME} RIG --control recover-${NAME}.sock --board sim:sh7750 ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/recover.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE} sh7750)
endfunction()
pp_recover_test(ftdi ftdi ft2232h)
pp_recover_test(cmsis_dap_v2 cmsis-dap cmsis-dap)
pp_recover_test(cmsis_dap_v1 cmsis-dap cmsis-dap,v1)
pp_recover_test(jlink jlink jlink)
# The adapter is pulled again while it is got back.
foreach(M "ftdi;ftdi;sh7750;ft2232h" "cmsis_dap_v2;cmsis-dap;sh7750;cmsis-dap" "usbdm;usbdm;s12zvml128;usbdm")
  list(POP_FRONT M NAME PROBE TARGET MODEL)
  pp_usb_test(again_${NAME} RIG --control again-${NAME}.sock --board sim:${TARGET} ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/recover_again.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE} ${TARGET})
endforeach()
# Ctrl-C in GDB about when it is pulled.
foreach(M "ftdi;ftdi;ft2232h" "cmsis_dap_v2;cmsis-dap;cmsis-dap" "jlink;jlink;jlink")
  list(POP_FRONT M NAME PROBE MODEL)
  pp_usb_test(ctrl_c_${NAME} RIG --control ctrl-c-${NAME}.sock --board sim:sh7750 ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/recover_ctrl_c.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE} sh7750)
endforeach()
foreach(M "usbdm;usbdm;usbdm" "usbdm_v5;usbdm;usbdm,v5" "osbdm;osbdm;osbdm")
  list(POP_FRONT M NAME PROBE MODEL)
  pp_usb_test(recover_${NAME} RIG --control recover-${NAME}.sock --board sim:s12zvml128 ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/motor.py $<TARGET_FILE:probeprof> ${PROBE} recover $<TARGET_FILE:usb_rig>)
endforeach()
# A killed program is in nobody's way.
foreach(M "ftdi;ftdi;sh7750;ft2232h" "cmsis_dap_v2;cmsis-dap;sh7750;cmsis-dap" "cmsis_dap_v1;cmsis-dap;sh7750;cmsis-dap,v1" "jlink;jlink;sh7750;jlink"
          "usbdm;usbdm;s12zvml128;usbdm" "usbdm_v5;usbdm;s12zvml128;usbdm,v5" "osbdm;osbdm;s12zvml128;osbdm")
  list(POP_FRONT M NAME PROBE TARGET MODEL)
  pp_usb_test(killed_${NAME} RIG --control killed-${NAME}.sock --board sim:${TARGET} ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/killed.py $<TARGET_FILE:probeprof> ${PROBE} ${TARGET})
endforeach()
# Profiles and debuggers that are killed leave a board that the next attach finds as if it had never been traced.
foreach(M "ftdi;ftdi;ft2232h" "cmsis_dap_v2;cmsis-dap;cmsis-dap" "cmsis_dap_v1;cmsis-dap;cmsis-dap,v1" "jlink;jlink;jlink")
  list(POP_FRONT M NAME PROBE MODEL)
  pp_usb_test(killed_traced_${NAME} RIG --control killed-traced-${NAME}.sock --board sim:sh7750 ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/killed_traced.py $<TARGET_FILE:probeprof> ${PROBE})
endforeach()
