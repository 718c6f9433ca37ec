qrt_add_family(boundary COMMON select.cc ISAS scalar)
