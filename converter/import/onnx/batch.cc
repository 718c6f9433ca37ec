// SPDX-License-Identifier: Apache-2.0
// A symbolic batch. The graph is imported at batch 1, where many an operator on dimension 0 looks
// like none: a mean over one image is that image, a slice of the first all there is. So the model
// is imported once more, at an unusual batch: only where that gives the same operators on as many
// more images, and each of these keeps images apart, is the model the same function of each image
// at every batch. The graph that open_batch makes of it later is a function of each image, too, and
// equal at batch 1.
#include "converter/import/onnx/batch.h"

#include <algorithm>
#include <cstring>

#include "converter/batch.h"

namespace qrt::convert::from_onnx {
namespace {

// Primes that are no likely dimension; small where a large batch would make tensors too large.
constexpr int64_t kProbes[] = {97, 61, 31, 13, 7, 5, 3};
constexpr int64_t kMostElements = int64_t{1} << 30;

// Returns a batch for the second import; 0: the tensors are too large for any.
int64_t choose_batch(const Graph& graph) {
  int64_t most = 1;
  for (const Value& v : graph.values) most = std::max(most, v.type.shape.elements());
  for (const int64_t probe : kProbes) {
    const auto has_probe = [&](const Value& v) {
      return std::find(v.type.shape.begin(), v.type.shape.end(), probe) != v.type.shape.end();
    };
    if (probe <= kMostElements / most &&
        std::none_of(graph.values.begin(), graph.values.end(), has_probe))
      return probe;
  }
  return 0;
}

// Cuts each constant that is the same for every image of the batch to one image.
void keep_one_image(int64_t batch, Graph* graph) {
  for (Value& v : graph->values) {
    Shape& shape = v.type.shape;
    if (!v.is_constant || shape.rank() == 0 || shape[0] != batch) continue;
    const size_t bytes = v.data.size() / static_cast<size_t>(batch);
    bool are_alike = bytes > 0 && v.data.size() % static_cast<size_t>(batch) == 0;
    for (size_t at = bytes; are_alike && at < v.data.size(); at += bytes)
      are_alike = memcmp(v.data.data(), v.data.data() + at, bytes) == 0;
    if (!are_alike) continue;
    v.data.resize(bytes);
    shape[0] = 1;
  }
}

bool is_same(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

// Returns whether `b` is `a` but for the size of the batch in dimension 0.
bool is_same(const Value& a, const Value& b, bool carries) {
  const Shape &from = a.type.shape, &to = b.type.shape;
  const int skip = carries ? 1 : 0;
  return a.type.dtype == b.type.dtype && from.rank() == to.rank() &&
         a.is_constant == b.is_constant && a.data == b.data &&
         std::equal(from.begin() + skip, from.end(), to.begin() + skip) &&
         (!carries || from[0] == 1) && is_same(a.quantization, b.quantization);
}

// Returns the first node of `many` that is another than in `one`; "" for none.
std::string find_difference(const Graph& one, const Graph& many, const std::vector<bool>& carries) {
  const auto are_same = [&](const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return a == b && std::all_of(a.begin(), a.end(), [&](ValueId id) {
             return is_same(one.values[id], many.values[id], carries[id]);
           });
  };
  const char* const what = " is another computation at other batches";
  for (size_t i = 0; i < many.nodes.size(); ++i) {
    const Node& b = many.nodes[i];
    if (i >= one.nodes.size()) return label_of(b) + what;
    const Node& a = one.nodes[i];
    // The shapes of a Reshape are those of its values.
    if (a.options.type != b.options.type || !are_same(a.inputs, b.inputs) ||
        !are_same(a.outputs, b.outputs) ||
        (!a.options.AsReshape() && StoredForm(a) != StoredForm(b)))
      return label_of(b) + what;
  }
  if (one.nodes.size() > many.nodes.size()) return label_of(one.nodes[many.nodes.size()]) + what;
  if (!are_same(one.inputs, many.inputs) || !are_same(one.outputs, many.outputs))
    return "an output is another value at other batches";
  return "";
}

}  // namespace

Status find_why_batch_is_closed(const Graph& graph, const ImportAtBatch& import, std::string* why) {
  const int64_t batch = choose_batch(graph);
  if (batch == 0) {
    *why = "its tensors are too large for more than one image";
    return Status();
  }
  Graph many;
  Report report;
  Status imported = import(batch, &many, &report);
  if (imported.code() == Code::kUnsupported || imported.code() == Code::kInvalidModel) {
    *why = "the model cannot be converted at other batches";
    for (const Finding& f : report.findings())
      if (f.outcome == Outcome::kRefused) {
        *why =
            "at other batches, node '" + f.node + "' (" + f.op + ") cannot be converted: " + f.rule;
        break;
      }
    return Status();
  }
  QRT_TRY(std::move(imported));  // a file that could not be read says nothing about the model
  *why = many.batch_closed;
  if (!why->empty()) return Status();
  keep_one_image(batch, &many);
  std::vector<bool> carries;
  *why = follow_batch(many, batch, &carries);
  if (why->empty()) *why = find_difference(graph, many, carries);
  return Status();
}

}  // namespace qrt::convert::from_onnx
