qrt_add_family(resize COMMON select.cc columns.cc resize_soft.cc ISAS scalar avx2)
