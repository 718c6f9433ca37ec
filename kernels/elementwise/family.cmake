qrt_add_family(elementwise COMMON select.cc ISAS scalar)
