qrt_add_family(integer COMMON integer.cc)
