# J-Link: the driver in one process; OpenOCD on the model; the tutorial.
pp_test(test_jlink SOURCES test_jlink.c usb_in_process.c LIBS usb_models)
function(jlink_judged NAME MODEL)
  pp_openocd_test(openocd_jlink_${NAME} RIG ${MODEL} ADAPTER "adapter driver jlink")
endfunction()
jlink_judged(high  jlink)
jlink_judged(full  jlink,full,pid=1061)
jlink_judged(old   jlink,pid=0101,hw=8,no-zlp,pieces)
jlink_judged(jtag2 jlink,pid=0105,hw=4,old)
pp_tutorial_test(jlink jlink jlink)
pp_tutorial_test(jlink_no_trst jlink jlink,no-trst)
pp_adapters_test(jlink_no_trst alone sh7750 RIG --board sim:sh7750 jlink,no-trst)
pp_tutorial_test(jlink_old jlink:123456789 jlink,hw=4,old,full,pieces,no-zlp,pid=0101)
pp_program_says(jlink_no_power 1 "0.12 V" RIG --board sim:sh7750 jlink,mv=120 ARGS --probe jlink --target sh7750 --private
            --no-profile --gdb 0 --elf ${CMAKE_SOURCE_DIR}/docs/examples/profexam/profexam.elf)
function(jlink_test NAME MODEL)
  pp_jtag_driver_test(jlink_${NAME} ${MODEL} jlink)
endfunction()
jlink_test(high     jlink)
jlink_test(full     jlink,full,mem=4096)
jlink_test(old      jlink,pid=0101,hw=8,pieces,no-write)
jlink_test(jtag2    jlink,pid=0105,hw=4,old,no-zlp)
jlink_test(left_swd jlink,left-swd)
pp_jtag_ahead_test(jlink jlink jlink 4) # one request and the three reads of its reply, 4 KB and a byte
# Answers have neither numbers nor check sums: a stale or changed one of the right length cannot be told from a right one.
pp_usb_test(usb_faults_jlink RIG --control jlink-faults.sock --board sim:sh7750 jlink,mem=2000 COMMAND test_usb_jtag jlink,timeout=150
            sweep unplug stall timeout short hang)
pp_replug_test(jlink jlink jlink)
pp_fuzz(fuzz_jlink SOURCES fuzz_jlink.c usb_in_process.c LIBS usb_models)
pp_usb_judge(judge_openocd_jlink jlink openocd "adapter driver jlink")
pp_usb_judge(judge_urjtag_jlink jlink,pid=0101,hw=5,full urjtag jlink)
# Watchpoints, whose false hits are passed over, with an adapter's time between stop and resume.
pp_usb_test(gdb_watch_jlink RIG --board sim:sh7750 jlink COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/gdbstub/gdb/test_gdb.py
            $<TARGET_FILE:probeprof> --by "--probe jlink --target sh7750 --private" "watchpoints: kinds, conditions, more than channels"
            "watch while stepping" "watchpoints while profiling")
# The same with conditions and prints that the bridge evaluates, and with breakpoints that are set while it runs.
pp_usb_test(gdb_conditions_jlink RIG --board sim:sh7750 jlink COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/gdbstub/gdb/test_gdb.py
            $<TARGET_FILE:probeprof> --by "--probe jlink --target sh7750 --private" "conditions: as GDB evaluates" "breakpoints while it runs" "non-stop")
