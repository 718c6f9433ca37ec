qrt_add_family(softmax COMMON softmax.cc softmax_int.cc softmax_16.cc softmax_wide.cc log_softmax.cc)
