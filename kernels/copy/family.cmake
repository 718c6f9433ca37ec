qrt_add_family(copy COMMON select.cc gather.cc transpose.cc ISAS scalar avx2 avx512vbmi neon)
