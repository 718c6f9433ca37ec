qrt_add_family(boundary COMMON select.cc packed.cc ISAS scalar avx2 avx512vnni neon)
