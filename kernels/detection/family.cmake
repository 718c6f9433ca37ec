qrt_add_family(detection COMMON detection.cc)
