# Convolutions with few outputs.
qrt_add_family(narrow COMMON select.cc weights.cc ISAS avx512vnni)
