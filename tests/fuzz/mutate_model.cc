// SPDX-License-Identifier: Apache-2.0
// Changes one number to what is likely to matter, lets one reference name what another names, or writes
// the file anew with every default in it, so that there are more fields to change. Bytes at random
// seldom leave a flatbuffer whole.
#include "qrt_model_generated.h"
#include "qrt_model_types.h"
#include "runtime/structure.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_fields.h"

namespace qrt::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

bool is_whole(const Bytes& file) {
  Result<ModelBytes> bytes = ModelBytes::borrow(file.data(), file.size());
  return bytes.ok() && check_structure(bytes.value()).ok();
}

Bytes with_defaults(const Bytes& file) {
  const auto model = fb::UnPackModel(file.data());
  for (auto& op : model->operators)  // Pack wants a table where there is a type
    if (op->options.value == nullptr) op->options.Reset();
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(true);
  fbb.CreateVector(Bytes(64));
  fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, model.get()));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

std::vector<uint8_t> mutate_model(const std::vector<uint8_t>& file, unsigned seed) {
  if (!is_whole(file)) return {};
  Bytes changed = seed % 16 == 1 ? with_defaults(file) : file;
  FieldMutator(seed).run(&changed, fb_types::ModelTypeTable());
  return changed;
}

}  // namespace qrt::fuzz
