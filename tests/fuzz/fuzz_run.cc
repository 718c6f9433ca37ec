// SPDX-License-Identifier: Apache-2.0
#include "qrt_model_generated.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {
namespace {

// Takes back a claim about weights that loading takes on trust: a file that lies there gives other
// results with the kernels that rely on it, and may.
void clear(const flatbuffers::Table* options, flatbuffers::voffset_t field) {
  const uint8_t* claim = options->GetAddressOf(field);
  if (claim != nullptr) *const_cast<uint8_t*>(claim) = 0;
}

// The file without them.
std::vector<uint8_t> without_claims(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  const auto table = [](const auto* o) { return reinterpret_cast<const flatbuffers::Table*>(o); };
  for (const fb::Operator* op : *fb::GetModel(bytes.data())->operators()) {
    if (const auto* o = op->options_as_Conv2D()) clear(table(o), fb::Conv2DOptions::VT_PAIR_SAFE);
    if (const auto* o = op->options_as_FullyConnected())
      clear(table(o), fb::FullyConnectedOptions::VT_PAIR_SAFE);
  }
  return bytes;
}

}  // namespace

void fuzz_run(const uint8_t* data, size_t size) {
  Status status;
  ModelPtr model = load(data, size, &status);
  if (model == nullptr) return;
  run_once(model, size);
  const std::vector<uint8_t> honest = without_claims(data, size);
  // The byte may stand for something else as well, where parts of the file overlap.
  model = load(honest.data(), honest.size(), &status);
  if (model != nullptr) compare_runs(model, size);
}

}  // namespace qrt::fuzz
