qrt_add_family(order COMMON order.cc select.cc ISAS scalar avx2 avx512vnni neon)
