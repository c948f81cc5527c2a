# FTDI chips.
foreach(CHIP ft232h:0x6014 ft2232h:0x6010 ft4232h:0x6011)
  string(REPLACE ":" ";" CHIP ${CHIP})
  list(GET CHIP 0 MODEL)
  list(GET CHIP 1 PID)
  pp_usb_judge(judge_openocd_${MODEL} ${MODEL} openocd "adapter driver ftdi | ftdi vid_pid 0x0403 ${PID} | ftdi layout_init 0x0018 0x001b")
endforeach()
pp_usb_judge(judge_openocd_ft2232h_b ft2232h,on=B openocd "adapter driver ftdi | ftdi vid_pid 0x0403 0x6010 | ftdi channel 1 | ftdi layout_init 0x0018 0x001b")
pp_usb_judge(judge_urjtag_ft2232h ft2232h urjtag FT2232 vid=0x0403 pid=0x6010)
