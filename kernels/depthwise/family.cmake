qrt_add_family(depthwise
  COMMON pack.cc plan.cc select.cc
  ISAS scalar avx2 avxvnni avx512vnni neon neondot)
