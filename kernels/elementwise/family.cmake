qrt_add_family(elementwise COMMON select.cc ISAS scalar avx2 avx512vnni neon)
