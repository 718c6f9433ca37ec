// SPDX-License-Identifier: Apache-2.0
// The matrix of TFLite operators (tflite_matrix/): every operator that has a handler, in every way to use
// it, of every type that it takes and behind every source, against plain loops. QRT_TEST_SEED sets the seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "converter/import/tflite/ops/handlers.h"
#include "tests/converter/tflite_matrix/cell.h"

namespace qrt::tflite_matrix::tflite_matrix_test {
namespace {

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& part : {move_rows(), elementwise_rows(), layer_rows()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(TfliteMatrixRows, HasOneForEveryHandler) {
  std::set<B> rows;
  for (const Row& row : all_rows()) {
    EXPECT_TRUE(rows.insert(row.code).second) << tflite::EnumNameBuiltinOperator(row.code);
    EXPECT_EQ(row.forms.empty(), *row.tested_in != '\0')
        << tflite::EnumNameBuiltinOperator(row.code);
  }
  for (const B code : tflite::EnumValuesBuiltinOperator()) {
    convert::from_tflite::Op op;
    op.code = code;
    if (convert::from_tflite::find_handler(op)) {
      EXPECT_EQ(rows.count(code), 1u)
          << tflite::EnumNameBuiltinOperator(code) << ": add a row to tflite_matrix/";
    }
  }
}

class TfliteMatrix : public ::testing::TestWithParam<Row> {};

TEST_P(TfliteMatrix, HasTheReferencesBytes) {
  const Row& row = GetParam();
  std::map<std::string, int> refused;
  int cells = 0, equal = 0;
  Random random;
  for (const Form& form : row.forms) {
    for (const T type : row.types) {
      for (int source = 0; source <= static_cast<int>(kLastSource); ++source) {
        // QUANTIZE of uint8 has the interpreter's multiplier; requantised tensors are signed.
        if (static_cast<Source>(source) == Source::kRequantized && type == T::UINT8) continue;
        const bool is_single = ++cells % 4 == 0;
        SCOPED_TRACE(form.name + ", " + tflite::EnumNameTensorType(type) + ", behind " +
                     name_of(static_cast<Source>(source)) +
                     (is_single ? ", single " : ", double ") + random.trace());
        Cell c(&random, type, static_cast<Source>(source), is_single);
        form.make(c, c.produced(form.dims));
        std::string why;
        if (c.check(&why))
          ++equal;
        else
          ++refused[why];
        if (HasFailure()) return;
      }
    }
  }
  for (const auto& [why, n] : refused) printf("%d of %d refused: %s\n", n, cells, why.c_str());
  // Some multipliers are out of the reference's range, so some cells are refused; most are not.
  EXPECT_GT(equal * 2, cells);
}

std::vector<Row> rows_with_forms() {
  std::vector<Row> all = all_rows();
  all.erase(std::remove_if(all.begin(), all.end(), [](const Row& r) { return r.forms.empty(); }),
            all.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(, TfliteMatrix, ::testing::ValuesIn(rows_with_forms()),
                         [](const auto& info) {
                           return std::string(tflite::EnumNameBuiltinOperator(info.param.code));
                         });

}  // namespace
}  // namespace qrt::tflite_matrix::tflite_matrix_test
