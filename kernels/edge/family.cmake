qrt_add_family(edge COMMON select.cc packed.cc ISAS scalar avx2 avx512vnni neon)
