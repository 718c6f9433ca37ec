qrt_add_family(lut COMMON select.cc ISAS scalar)
