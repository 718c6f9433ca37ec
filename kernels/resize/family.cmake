qrt_add_family(resize COMMON select.cc ISAS scalar avx2)
