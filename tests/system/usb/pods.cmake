# BDM pods: models by themselves.
pp_test(test_model_usbdm SOURCES test_model_usbdm.c LIBS usb_models)
pp_test(test_model_osbdm SOURCES test_model_osbdm.c LIBS usb_models)
# Drivers against them, and with faults at every transfer. Only USBDM's answers are numbered; OSBDM's that are said twice are too many. No pod's
# have a check sum.
pp_usb_program(test_usb_bdc SOURCES test_usb_bdc.c LIBS probe)
foreach(M "usbdm;usbdm;usbdm" "usbdm_v5;usbdm,v5,cdc;usbdm" "usbdm_v5_8;usbdm,v5,version=5.8.1;usbdm" "usbdm_small;usbdm,buffer=145,no-serial;usbdm:@1-1" "osbdm;osbdm;osbdm")
  list(POP_FRONT M NAME MODEL PROBE)
  pp_usb_test(usb_bdc_${NAME} RIG --control bdc-${NAME}.sock --board sim:s12zvml128 ${MODEL} COMMAND test_usb_bdc ${PROBE})
endforeach()
# (Half a command is none of them: no bus does that, and neither firmware would see it.)
foreach(M "usbdm;usbdm" "usbdm_v5;usbdm,v5" "osbdm;osbdm")
  list(POP_FRONT M NAME MODEL)
  string(REGEX REPLACE ",.*" "" PROBE ${MODEL})
  pp_usb_test(usb_faults_${NAME} RIG --control ${NAME}-faults.sock --board sim:s12zvml128 ${MODEL} COMMAND test_usb_bdc ${PROBE}:timeout=60
              sweep unplug stall timeout hang short-answer stale wrong-id garbage)
endforeach()
# The whole program: the motor example traced and sampled, a debugger's steps, pods and boards that go away.
function(pp_motor_test NAME PROBE MODEL)
  foreach(WHAT ${ARGN})
    pp_usb_test(motor_${NAME}_${WHAT} RIG --control motor-${NAME}-${WHAT}.sock --board sim:s12zvml128 ${MODEL} COMMAND ${Python3_EXECUTABLE}
                ${CMAKE_CURRENT_SOURCE_DIR}/motor.py $<TARGET_FILE:probeprof> ${PROBE} ${WHAT})
  endforeach()
  pp_usb_test(motor_${NAME}_replug RIG --control motor-${NAME}-replug.sock --board sim:s12zvml128 ${MODEL} COMMAND ${Python3_EXECUTABLE}
              ${CMAKE_CURRENT_SOURCE_DIR}/motor.py $<TARGET_FILE:probeprof> ${PROBE} replug $<TARGET_FILE:usb_rig>)
endfunction()
pp_motor_test(usbdm usbdm usbdm trace sample gdb breaks)
pp_motor_test(usbdm_v5 usbdm usbdm,v5,cdc trace sample gdb)
pp_motor_test(usbdm_v5_8 usbdm usbdm,v5,version=5.8.1 trace)
pp_motor_test(osbdm osbdm osbdm trace sample gdb)
foreach(M usbdm osbdm)
  pp_usb_test(motor_${M}_unsecure RIG --board sim:s12zvml128,secured ${M} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/motor.py
              $<TARGET_FILE:probeprof> ${M} unsecure)
endforeach()
function(pp_pod_says NAME TEXT BOARD MODEL)
  string(REGEX REPLACE ",.*" "" PROBE ${MODEL})
  pp_usb_says(pod_${NAME} 1 ${TEXT} RIG --board sim:s12zvml128${BOARD} ${MODEL} COMMAND $<TARGET_FILE:probeprof> --probe ${PROBE} --target s12zvml128 --gdb off
              --elf ${CMAKE_SOURCE_DIR}/docs/examples/motor/motor.elf)
endfunction()
pp_usb_says(pod_no_target 2 "--target s12zvml128" RIG --board sim:s12zvml128 osbdm COMMAND $<TARGET_FILE:probeprof> --gdb off
            --elf ${CMAKE_SOURCE_DIR}/docs/examples/motor/motor.elf)
pp_pod_says(usbdm_v5_clock "needs the fast BDC clock" "" usbdm,v5)
pp_pod_says(usbdm_other_firmware "is not for S12Z parts" "" usbdm,no-s12z)
pp_pod_says(osbdm_other_firmware "is for another core" "" osbdm,core=1)
pp_pod_says(usbdm_secured "the part is secured" ",secured" usbdm)
pp_pod_says(osbdm_secured "the part is secured" ",secured" osbdm)
pp_pod_says(usbdm_no_power "the target has no power" ",fault=no-power" usbdm)
pp_pod_says(usbdm_bkgd_low "BKGD is stuck low" ",fault=bkgd-low" usbdm)
pp_pod_says(osbdm_silent "nothing answers a SYNC" ",fault=silent" osbdm)
pp_pod_says(usbdm_no_ack "sees no ACK pulses" "" usbdm,bad-ack)
pp_fuzz(fuzz_pods SOURCES fuzz_pods.c usb_in_process.c LIBS usb_models)
pp_fuzz(fuzz_adapter_options SOURCES fuzz_adapter_options.c usb_in_process.c LIBS usb_models)
