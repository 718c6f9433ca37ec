qrt_add_family(formula COMMON bounds.cc select.cc ISAS scalar vectors)
