qrt_add_family(softmax COMMON softmax.cc)
