qrt_add_family(softmax COMMON softmax.cc softmax_int.cc softmax_int16.cc softmax_int16_table.cc log_softmax.cc)
