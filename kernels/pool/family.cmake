qrt_add_family(pool COMMON select.cc ISAS scalar)
