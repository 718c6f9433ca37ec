qrt_add_family(recurrent COMMON lstm.cc sigmoid.cc svdf.cc)
