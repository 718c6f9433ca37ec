// SPDX-License-Identifier: Apache-2.0
// converter/import/tflite/README.md says of every operator whose kernel its bits are from.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite::tflite_references_test {
namespace {

// Returns the table's rows by operator: what stands beside it.
std::map<std::string, std::string> read_rows() {
  std::ifstream file(QRT_TESTS_DIR "/../converter/import/tflite/README.md");
  EXPECT_TRUE(file.good());
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 2, "| ") != 0) continue;
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    EXPECT_EQ(cells.size(), 4u) << line;
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    if (name == "operator") continue;
    EXPECT_TRUE(rows.emplace(name, cells.at(1) + cells.at(2) + cells.at(3)).second)
        << "two rows of " << name;
  }
  return rows;
}

TEST(TfliteReferences, EveryOperatorHasItsRow) {
  std::map<std::string, std::string> rows = read_rows();
  const auto check = [&](const Handler& handler, const std::string& name) {
    ASSERT_EQ(rows.count(name), 1u) << name << " has no row";
    EXPECT_EQ(rows[name].find("int16") != std::string::npos, handler.takes_int16) << name;
    rows.erase(name);
  };
  for (int code = 0; code <= static_cast<int>(tflite::BuiltinOperator::MAX); ++code) {
    Op op;
    op.code = static_cast<tflite::BuiltinOperator>(code);
    if (const Handler* handler = find_handler(op))
      check(*handler, tflite::EnumNameBuiltinOperator(op.code));
  }
  Op detection;
  detection.code = tflite::BuiltinOperator::CUSTOM;
  detection.custom_code = "TFLite_Detection_PostProcess";
  check(*find_handler(detection), detection.custom_code);
  for (const auto& [name, types] : rows) ADD_FAILURE() << name << " is not imported";
}

}  // namespace
}  // namespace qrt::convert::from_tflite::tflite_references_test
