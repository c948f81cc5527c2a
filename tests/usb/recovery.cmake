# Adapters that go away and come back. While a run is only beginning: pulled at transfer FIRST and later, until it was met in each phase.
function(pp_early_test NAME PROBE TARGET MODEL FIRST)
  pp_usb_test(early_${NAME} RIG --control early-${NAME}.sock --board sim:${TARGET} ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/early.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${PROBE} ${TARGET} ${FIRST} ${ARGN})
endfunction()
pp_early_test(ftdi ftdi sh7750 ft2232h 25 load: arming)
pp_early_test(cmsis_dap_v2 cmsis-dap sh7750 cmsis-dap 80 load: arming)
pp_early_test(cmsis_dap_v1 cmsis-dap sh7750 cmsis-dap,v1 400 load: arming)
pp_early_test(jlink jlink sh7750 jlink 30 load: arming)
pp_early_test(usbdm usbdm s12zvml128 usbdm 30 load:)
pp_early_test(usbdm_v5 usbdm s12zvml128 usbdm,v5 30 load:)
pp_early_test(osbdm osbdm s12zvml128 osbdm 30 load:)
