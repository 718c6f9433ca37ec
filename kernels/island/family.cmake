qrt_add_family(island COMMON island.cc)
