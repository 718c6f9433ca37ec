qrt_add_family(depthwise
  COMMON pack.cc plan.cc requantize.cc select.cc
  ISAS scalar)
