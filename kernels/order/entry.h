// Entry points of the order family's files. Only for this folder: others take a row from order.h.
#ifndef QRT_KERNELS_ORDER_ENTRY_H_
#define QRT_KERNELS_ORDER_ENTRY_H_

#include "kernels/order/order.h"

namespace qrt {

#define QRT_ORDER(isa, suffix)                                  \
  void minimum_##suffix(Element element, const BinaryRun& run); \
  void maximum_##suffix(Element element, const BinaryRun& run);
#include "kernels/order/order.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_ORDER_ENTRY_H_
