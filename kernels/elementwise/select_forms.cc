// SPDX-License-Identifier: Apache-2.0
// The tables of forms.h and the choice from them: the first row the CPU can run.
#include "kernels/built.h"
#include "kernels/elementwise/forms_entry.h"
#include "kernels/select.h"

namespace qrt {
namespace {

constexpr SumTablesKernel kSums[] = {
#define QRT_SUM_TABLES(isa, suffix)                                                     \
  {"elementwise_tables_u8_" #suffix, Isa::isa, built::kAdd ? make_sum_tables : nullptr, \
   built::kAdd ? make_sum_tables_of_integers : nullptr,                                 \
   built::kAdd ? sum_tables_##suffix : nullptr},
#define QRT_SCALED_PRODUCT(isa, suffix)
#include "kernels/elementwise/forms.inc"
    {nullptr, Isa::kScalar, nullptr, nullptr, nullptr},
};

constexpr ScaledProductKernel kProducts[] = {
#define QRT_SUM_TABLES(isa, suffix)
#define QRT_SCALED_PRODUCT(isa, suffix) \
  {"elementwise_rows_u8_" #suffix, Isa::isa, built::kMul ? scaled_product_##suffix : nullptr},
#include "kernels/elementwise/forms.inc"
    {nullptr, Isa::kScalar, nullptr},
};

}  // namespace

const SumTablesKernel* select_sum_tables(IsaSet isas) { return first_row(kSums, isas); }
const ScaledProductKernel* select_scaled_product(IsaSet isas) { return first_row(kProducts, isas); }

}  // namespace qrt
