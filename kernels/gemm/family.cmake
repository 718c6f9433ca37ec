# Fully connected layers and convolutions as matrix products.
qrt_add_family(gemm
  COMMON select.cc pack.cc pack_activations.cc store.cc
  ISAS scalar avx2 avxvnni avx512vnni amx neon neondot i8mm)
