qrt_add_family(normalize COMMON l2_normalization.cc)
