// libFuzzer's mutator for .qrt files: changes one number to what is likely to matter, lets one
// reference name what another names, or writes the file anew with every default in it, so that there
// are more fields to change. Bytes at random seldom leave a flatbuffer whole.
#include <algorithm>

#include "qrt_model_generated.h"
#include "runtime/unshared.h"
#include "tests/fuzz/mutate_fields.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed);

namespace qrt::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

bool is_whole(const Bytes& file) {
  if (file.size() < 16 || !fb::ModelBufferHasIdentifier(file.data())) return false;
  flatbuffers::Verifier verifier(file.data(), file.size(), 16, 1u << 22);
  return fb::VerifyModelBuffer(verifier) &&
         check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(file.data()),
                        fb_types::ModelTypeTable(), file.size())
             .ok();
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
}  // namespace qrt::fuzz

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using qrt::fuzz::Bytes;
  Bytes file(data, data + size);
  if (seed % 8 == 0 || !qrt::fuzz::is_whole(file)) return LLVMFuzzerMutate(data, size, max_size);
  if (seed % 16 == 1) file = qrt::fuzz::with_defaults(file);
  qrt::fuzz::FieldMutator(seed).run(&file, qrt::fb_types::ModelTypeTable());
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(file.begin(), file.end(), data);
  return file.size();
}
