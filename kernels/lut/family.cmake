qrt_add_family(lut COMMON select.cc channel_lut.cc pair_lut.cc ISAS scalar avx2 avx512vbmi neon)
