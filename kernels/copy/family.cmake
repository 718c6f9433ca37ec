qrt_add_family(copy COMMON select.cc transpose.cc ISAS scalar avx2 neon)
