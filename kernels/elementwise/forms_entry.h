// SPDX-License-Identifier: Apache-2.0
// Entry points of rows_<isa>.cc and of sum_tables.cc. For this folder: others take a row from forms.h.
#ifndef QRT_KERNELS_ELEMENTWISE_FORMS_ENTRY_H_
#define QRT_KERNELS_ELEMENTWISE_FORMS_ENTRY_H_

#include "kernels/elementwise/forms.h"

namespace qrt {

bool make_sum_tables(const AddParams& params, SumTables* tables);
bool make_sum_tables_of_integers(const AddIntParams& params, SumTables* tables);

#define QRT_SUM_TABLES(isa, suffix) \
  void sum_tables_##suffix(const SumTables& tables, const Rows& rows);
#define QRT_SCALED_PRODUCT(isa, suffix) \
  void scaled_product_##suffix(const ScaledProduct& product, const Rows& rows);
#include "kernels/elementwise/forms.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_FORMS_ENTRY_H_
