qrt_add_family(wide COMMON select.cc wide_digits.cc wide_pool.cc wide_product.cc ISAS scalar avx2 avx512vnni neon)
