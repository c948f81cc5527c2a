# Faults at a sample of the transfers of every driver's standard run, another one each time; HACKING.md has the command for all of them.
add_library(census MODULE census.c)
target_compile_options(census PRIVATE -fno-sanitize=all) # it stands in front of everything
target_link_options(census PRIVATE -fno-sanitize=all)
foreach(DRIVER ftdi cmsis-dap cmsis-dap-v1 jlink usbdm usbdm-v5 osbdm serial rsp)
  add_test(NAME sweep_${DRIVER} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/sweep.py ${CMAKE_BINARY_DIR} --sample 1 ${DRIVER})
  set_tests_properties(sweep_${DRIVER} PROPERTIES SKIP_RETURN_CODE 77 LABELS usb PROCESSORS 2 COST 60)
endforeach()
add_test(NAME sweep_few_rebuilds COMMAND ${CMAKE_SOURCE_DIR}/tests/examples/rebuild.sh ${CMAKE_CURRENT_SOURCE_DIR}/few few)
add_test(NAME sweep_few_s12z_rebuilds COMMAND ${CMAKE_SOURCE_DIR}/tests/examples/rebuild_s12z.sh ${CMAKE_CURRENT_SOURCE_DIR}/few_s12z few_s12z)
set_tests_properties(sweep_few_rebuilds sweep_few_s12z_rebuilds PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(sweep_few_s12z_rebuilds PROPERTIES FIXTURES_REQUIRED s12z_binutils)
