qrt_add_family(resize COMMON select.cc resize_soft.cc ISAS scalar avx2)
