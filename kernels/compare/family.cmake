qrt_add_family(compare COMMON compare.cc select.cc ISAS scalar avx2 avx512vnni neon)
