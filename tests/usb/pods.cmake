# BDM pods: models by themselves.
pp_test(test_model_usbdm SOURCES test_model_usbdm.c model_usbdm.c model_usbdm_fw.c model_bkgd.c LIBS s12z_model probe)
pp_test(test_model_osbdm SOURCES test_model_osbdm.c model_osbdm.c model_bkgd.c LIBS s12z_model probe)
