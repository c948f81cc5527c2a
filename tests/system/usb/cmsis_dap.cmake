# CMSIS-DAP probes, bulk (v2) and HID (v1).
pp_test(test_model_cmsis_dap SOURCES test_model_cmsis_dap.c LIBS usb_models)
foreach(M "bulk;usb_bulk;cmsis-dap" "bulk64;usb_bulk;cmsis-dap,packet=64,count=1" "hid;hid;cmsis-dap,v1" "edbg;hid;cmsis-dap,v1,report=512,vid=03eb,pid=2141"
          "class0;usb_bulk;cmsis-dap,class0,swo")
  list(POP_FRONT M NAME BACKEND MODEL)
  pp_openocd_test(openocd_cmsis_dap_${NAME} RIG ${MODEL} ADAPTER "adapter driver cmsis-dap" "cmsis_dap_backend ${BACKEND}")
endforeach()
foreach(M "v2;cmsis-dap;cmsis-dap" "v2_full;cmsis-dap,packet=64;cmsis-dap" "v2_one;cmsis-dap,count=1,no-atomic;cmsis-dap" "v2_1024;cmsis-dap,packet=1024,zlp;cmsis-dap"
          "v1;cmsis-dap,v1;cmsis-dap" "v1_512;cmsis-dap,both,report=512;cmsis-dap,v1" "v1_plain;cmsis-dap,v1,no-atomic;cmsis-dap"
          "stale;cmsis-dap,keeps-stale=4,keeps-queue,disconnect-hangs;cmsis-dap" "v1_stale;cmsis-dap,v1,keeps-stale=4,keeps-queue;cmsis-dap"
          "class0;cmsis-dap,class0,swo,interface-string,no-serial;cmsis-dap:@1-1,idle" "padded;cmsis-dap,padded;cmsis-dap" "padded_full;cmsis-dap,padded,packet=64,no-atomic;cmsis-dap" "blind;cmsis-dap,blind,boasts;cmsis-dap" "v1_boasts;cmsis-dap,v1,blind,boasts;cmsis-dap")
  list(POP_FRONT M NAME MODEL PROBE)
  pp_jtag_driver_test(cmsis_dap_${NAME} ${MODEL} ${PROBE})
endforeach()
# A request and the read for its answer for each buffer; reports on HID.
pp_jtag_ahead_test(cmsis_dap_v2 cmsis-dap cmsis-dap 16)
pp_jtag_ahead_test(cmsis_dap_3 cmsis-dap,count=3,packet=64 cmsis-dap 6)
pp_jtag_ahead_test(cmsis_dap_1 cmsis-dap,count=1 cmsis-dap 2)
pp_jtag_ahead_test(cmsis_dap_asked cmsis-dap cmsis-dap,inflight=2 4)
pp_jtag_ahead_test(cmsis_dap_v1 cmsis-dap,v1,count=5 cmsis-dap 5)
pp_jtag_fault_test(cmsis_dap_v2 cmsis-dap,packet=64 cmsis-dap,timeout=150)
pp_jtag_fault_test(cmsis_dap_v1 cmsis-dap,v1,hid-limit=300 cmsis-dap,timeout=150)
pp_usb_test(usb_faults_cmsis_dap_plain RIG --control plain.sock --board sim:sh7750 cmsis-dap,v1,no-atomic COMMAND test_usb_jtag cmsis-dap,timeout=150 sweep stale wrong-id garbage)
# The tutorial, and what is said where it cannot be.
pp_tutorial_test(cmsis_dap_v2 cmsis-dap cmsis-dap)
pp_tutorial_test(cmsis_dap_full cmsis-dap cmsis-dap,packet=64,keeps-stale=3)
pp_tutorial_test(cmsis_dap_v1 cmsis-dap:DAP0123456789,v1 cmsis-dap,both)
pp_tutorial_test(cmsis_dap_padded cmsis-dap cmsis-dap,padded,keeps-stale=3)
pp_adapters_test(cmsis_dap_old alone RIG --board sim:sh7750 cmsis-dap,firmware=)
pp_replug_test(cmsis_dap_v2 cmsis-dap cmsis-dap)
pp_replug_test(cmsis_dap_v1 cmsis-dap cmsis-dap,v1,report=512)
pp_usb_says(cmsis_dap_swd_only 1 "SWD only, not JTAG" RIG --board sim:sh7750 cmsis-dap,swd-only COMMAND $<TARGET_FILE:probeprof> --probe cmsis-dap
            --target sh7750 --private --no-profile)
pp_usb_says(cmsis_dap_refuses 1 "refused to switch to JTAG" RIG --board sim:sh7750 cmsis-dap,refuse-connect COMMAND $<TARGET_FILE:probeprof> --probe
            cmsis-dap --target sh7750 --private --no-profile)
pp_adapters_test(cmsis_dap_blind alone RIG --board sim:sh7750 cmsis-dap,blind)
pp_usb_test(tutorial_auto_cmsis_dap_blind RIG --board sim:sh7750 cmsis-dap,blind COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tutorial.py $<TARGET_FILE:probeprof>
            cmsis-dap --speed auto --reset)
