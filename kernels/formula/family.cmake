qrt_add_family(formula COMMON select.cc ISAS scalar avx2 avx512vnni neon)
