# The rig itself.
pp_usb_program(test_rig_hid SOURCES test_rig_hid.c LIBS PkgConfig::HIDAPI)
pp_usb_test(usb_rig_hid RIG --control usb_rig_hid.sock loop-hid COMMAND test_rig_hid)
if(PP_USB_RIG)
  add_test(NAME usb_rig_time COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/rig_time.py $<TARGET_FILE:usb_rig> $<TARGET_FILE:test_usb_rig>)
  set_tests_properties(usb_rig_time PROPERTIES LABELS usb)
endif()
