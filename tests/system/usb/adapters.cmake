# list, doctor and --probe with modelled adapters: pp_adapters_test(NAME CASE [TARGET part] RIG arguments... [SAYS step text])
function(pp_adapters_test NAME CASE)
  cmake_parse_arguments(T "" "TARGET" "RIG;SAYS" ${ARGN})
  if(NOT T_TARGET)
    set(T_TARGET sh7750)
  endif()
  pp_usb_test(adapters_${NAME} RIG --control adapters-${NAME}.sock ${T_RIG}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/adapters.py $<TARGET_FILE:probeprof> $<TARGET_FILE:usb_rig> ${T_TARGET} ${CASE}
                      ${T_SAYS})
endfunction()
foreach(M "jlink;jlink" "ftdi;ft2232h,pid=cff8,oe=4,ntrst=8~10,nreset=9~11" "cmsis_dap;cmsis-dap" "cmsis_dap_v1;cmsis-dap,v1")
  list(POP_FRONT M NAME MODEL)
  pp_adapters_test(${NAME} alone RIG --board sim:sh7750 ${MODEL})
  pp_adapters_test(${NAME}_closed closed RIG --board sim:sh7750 ${MODEL})
endforeach()
foreach(POD usbdm osbdm)
  pp_adapters_test(${POD} alone TARGET s12zvml128 RIG --board sim:s12zvml128 ${POD})
  pp_adapters_test(${POD}_closed closed TARGET s12zvml128 RIG --board sim:s12zvml128 ${POD})
  pp_adapters_test(${POD}_silent fault TARGET s12zvml128 RIG --board sim:s12zvml128,fault=silent ${POD} SAYS wire "SYNC: no answer")
  pp_adapters_test(${POD}_secured fault TARGET s12zvml128 RIG --board sim:s12zvml128,secured ${POD} SAYS part "secured")
endforeach()
pp_adapters_test(usbdm_no_power fault TARGET s12zvml128 RIG --board sim:s12zvml128,fault=no-power usbdm SAYS power "no target power")
pp_adapters_test(ftdi_bare doubtful RIG --board sim:sh7750 ft232h)
pp_adapters_test(ftdi_bare_two doubtful RIG --board sim:sh7750 ft2232h)
pp_adapters_test(several two RIG --board sim:sh7750 jlink,path=1-2.1 --board sim:sh7750 cmsis-dap,path=1-2.2 --board sim:sh7750 cmsis-dap,path=1-3,serial=OTHER)
pp_adapters_test(volts volts RIG --board sim:sh7750 jlink,mv=1800)
pp_adapters_test(none nothing RIG loop)
pp_adapters_test(no_power fault RIG --board sim:sh7750,fault=no-power jlink,mv=30 SAYS power "no target power")
pp_adapters_test(no_tap fault RIG --board sim:sh7750,fault=stuck-tdo jlink SAYS wire "TDO stays 1")
pp_adapters_test(no_board fault RIG jlink SAYS power "no target power")
pp_adapters_test(silent fault RIG --board sim:sh7750,fault=silent cmsis-dap SAYS cpu "does not answer")
pp_adapters_test(held fault RIG --board sim:sh7750,fault=held jlink SAYS pins "nRESET is low")
pp_adapters_test(trst fault RIG --board sim:sh7750,fault=trst jlink SAYS pins "nTRST is low")
# SIGTERM while the kernel does not give an adapter's call back.
pp_usb_test(ending_frozen RIG --board sim:sh7750 jlink COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/cli/e2e/ending.py $<TARGET_FILE:probeprof>
            ${CMAKE_SOURCE_DIR} Frozen)
set_tests_properties(ending_frozen PROPERTIES COST 80 TIMEOUT 3000)
# The tutorial at the clock that is found, after the reset button was pressed for us.
foreach(M "jlink;jlink;jlink" "cmsis_dap;cmsis-dap;cmsis-dap" "ftdi;ftdi:ntrst=4,nreset=5;ft2232h,ntrst=4,nreset=5")
  list(POP_FRONT M NAME PROBE MODEL)
  pp_usb_test(tutorial_auto_${NAME} RIG --board sim:sh7750 ${MODEL}
              COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tutorial.py $<TARGET_FILE:probeprof> ${PROBE} --speed auto --reset)
endforeach()
pp_usb_says(adapters_no_reset_pin 1 "has no pin for that" RIG --board sim:sh7750 ft2232h COMMAND $<TARGET_FILE:probeprof> --probe ftdi --target sh7750 --private
            --reset --no-profile)
pp_usb_says(adapters_long_wires 0 "bits are lost at" RIG --board sim:sh7750,wires=3500k jlink COMMAND $<TARGET_FILE:probeprof> doctor --target sh7750 --private --speed
            auto --halt)
pp_adapters_test(too_fast fault RIG --board sim:sh7750,wires=3500k jlink SAYS wire "come back changed")
pp_usb_says(adapters_by_part 0 "ok     adapter   usbdm:" RIG --board sim:s12zvml128 usbdm --board sim:sh7750 jlink,path=1-4 COMMAND $<TARGET_FILE:probeprof> doctor --target
            s12zvml128)
# Wires that are wrong, and boards that are.
foreach(W "tdi-high;TDI does not reach the chain" "tdi-low;TDI does not reach the chain" "tms-high;TDO stays 1" "tms-low;TDO stays 1" "tck-open;TDO stays 1"
          "tdo-high;TDO stays 1" "tdo-low;TDO stays 0" "tdi-tdo-swapped;TDO stays 1" "tms-tdi-swapped;on the wrong pin" "tdi-tdo-shorted;TDI leads straight to TDO")
  list(POP_FRONT W WIRES SAYS)
  pp_usb_says(adapters_wires_${WIRES} 0 "${SAYS}" RIG --board sim:sh7750 --wires ${WIRES} jlink COMMAND
              sh -c "$<TARGET_FILE:probeprof> doctor --target sh7750 --private | tr -s '\\n ' ' '")
endforeach()
pp_adapters_test(another_board fault RIG --board sim:sh7750 --chain instead:idcode=0x4ba00477,ir=4 jlink SAYS part
                 "no sh7750 on the JTAG chain: 1 device (4BA00477 Arm), instruction registers of 4 bits")
pp_usb_says(adapters_slow_register 0 "its own registers lose bits at" RIG --board sim:sh7750,wires=12M,sddr=1M jlink COMMAND
            sh -c "$<TARGET_FILE:probeprof> doctor --target sh7750 --private --halt --speed auto | tr -s '\\n ' ' '")
pp_usb_says(adapters_other_channel 0 "is the board at its other channel? --probe ftdi:FTMODEL1:A" RIG --board sim:sh7750 ft2232h COMMAND
            sh -c "$<TARGET_FILE:probeprof> doctor --target sh7750 --probe ftdi:FTMODEL1:B | tr -s '\\n ' ' '")
pp_usb_says(adapters_bare_number 2 "did you mean jlink:123456789?" RIG --board sim:sh7750 jlink COMMAND $<TARGET_FILE:probeprof> --probe 123456789)
pp_usb_test(examples RIG --board sim:sh7750 jlink --board sim:s12zvml128 usbdm COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/examples.py
            $<TARGET_FILE:probeprof> ${CMAKE_SOURCE_DIR} $<TARGET_FILE:capture_edges>)
set_tests_properties(examples PROPERTIES RESOURCE_LOCK default_ports)
pp_adapters_test(nameless nameless RIG --board sim:sh7750 jlink,no-serial,path=1-2 jlink,no-serial,path=1-10)
pp_adapters_test(swd_only fault RIG --board sim:sh7750 cmsis-dap,swd-only SAYS adapter "SWD only")
# A part whose own register is slower than its BYPASS, beside another on the chain.
pp_usb_test(tutorial_auto_slow_register RIG --board sim:sh7750,sddr=2M --chain idcode=0x4ba00477,ir=4 cmsis-dap
            COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tutorial.py $<TARGET_FILE:probeprof> cmsis-dap --speed auto)
# What doctor writes for others.
foreach(M "jlink;123456789;jlink:123456789;jlink" "cmsis_dap_v2;DAP0123456789;cmsis-dap:DAP0123456789;cmsis-dap" "cmsis_dap_v1;DAP0123456789;cmsis-dap:DAP0123456789;cmsis-dap,v1"
          "ftdi;FTMODEL1;ftdi:FTMODEL1;ft2232h")
  list(POP_FRONT M NAME SERIAL PROBE MODEL)
  pp_usb_test(adapters_report_${NAME} RIG --board sim:sh7750 ${MODEL} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/report.py $<TARGET_FILE:probeprof> ${SERIAL} ${PROBE})
endforeach()
