qrt_add_family(order COMMON order.cc)
