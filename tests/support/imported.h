// SPDX-License-Identifier: Apache-2.0
// Imports a model that a test built.
#ifndef QRT_TESTS_SUPPORT_IMPORTED_H_
#define QRT_TESTS_SUPPORT_IMPORTED_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "converter/convert.h"
#include "tests/support/graph_builder.h"
#include "tests/support/support_rows.h"

namespace qrt::testing {

struct Imported {
  Status status;
  convert::Graph graph;
  convert::Report report;

  // Returns the first refusal's text, or "".
  std::string rule() const {
    for (const convert::Finding& f : report.findings())
      if (f.outcome == convert::Outcome::kRefused) return f.rule;
    return "";
  }
  int refusals() const {
    int n = 0;
    for (const convert::Finding& f : report.findings())
      n += f.outcome == convert::Outcome::kRefused;
    return n;
  }
  // Returns the operator that a source node became, or "refused".
  std::string became(const std::string& node) const {
    for (const convert::Finding& f : report.findings())
      if (f.node == node) return f.outcome == convert::Outcome::kConverted ? f.result : "refused";
    return "";
  }
  // "Det: refused", "QuantizeLinear: depends on refused node Det2", "Add: Add" ...; every node
  // once.
  std::vector<std::string> outcomes() const {
    std::vector<std::string> lines;
    for (const convert::Finding& f : report.findings())
      lines.push_back(f.op + ": " +
                      (f.outcome == convert::Outcome::kConverted ? f.result
                       : f.outcome == convert::Outcome::kRefused ? "refused"
                                                                 : f.rule));
    return lines;
  }
  int count(fb::OpOptions type) const {
    int n = 0;
    for (const convert::Node& node : graph.nodes) n += node.options.type == type;
    return n;
  }
  template <class T>
  const T& only() const {
    for (const convert::Node& node : graph.nodes)
      if (node.options.type == fb::OpOptionsUnionTraits<T>::enum_value)
        return convert::options<T>(node);
    ADD_FAILURE() << "no such operator\n" << convert::dump(graph);
    static const T none{};
    return none;
  }
};

// Calls f(path, Imported*) on a temporary file of these bytes.
template <class F>
Imported import_file(const void* bytes, size_t size, const F& f) {
  const std::string path = ::testing::TempDir() + "qrt_import_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  Imported result;
  result.status = f(path, &result);
  unlink(path.c_str());
  return result;
}

// Converts and runs what came of `model`, for rows of the support table too; REQUIRES success.
template <class Model>
std::vector<Bytes> run_imported(const Model& model, Imported imported,
                                const std::vector<Bytes>& inputs) {
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  if (!imported.status.ok()) return {};
  record_support(model, imported.report);
  return run_graph(std::move(imported.graph), true, inputs).outputs;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_IMPORTED_H_
