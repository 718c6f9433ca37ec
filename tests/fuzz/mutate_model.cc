// libFuzzer's mutator for .qrt files: changes one number to what is likely to matter, lets one
// reference name what another names, or writes the file anew with every default in it, so that there
// are more fields to change. Bytes at random seldom leave a flatbuffer whole.
#include <algorithm>
#include <random>

#include "qrt_model_generated.h"
#include "runtime/unshared.h"
#include "tests/support/fields.h"

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
         check_unshared_model(fb::GetModel(file.data()), file.size()).ok();
}

Bytes with_defaults(const Bytes& file) {
  const auto model = fb::UnPackModel(file.data());
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(true);
  fbb.CreateVector(Bytes(64));
  fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, model.get()));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

class Mutator {
 public:
  explicit Mutator(unsigned int seed) : random_(seed) {}

  void run(Bytes* file) {
    const testing::Fields fields = testing::fields_of(*file);
    for (int n = 1 + below(3); n > 0; --n) {
      if (below(4) == 0 && !fields.links.empty()) {
        const testing::Link& link = fields.links[pick(fields.links.size())];
        // Most others are of another kind, or stand before it.
        for (int tries = 0; tries < 50; ++tries)
          if (testing::redirect(file, link, fields.links[pick(fields.links.size())])) break;
      } else if (!fields.numbers.empty()) {
        const testing::Field& field = fields.numbers[pick(fields.numbers.size())];
        testing::set(file, field, value(testing::get(*file, field)));
      }
    }
  }

 private:
  int below(int n) { return static_cast<int>(pick(static_cast<size_t>(n))); }
  size_t pick(size_t n) { return random_() % n; }

  int64_t value(int64_t now) {
    constexpr int64_t kNear = 3;
    switch (below(6)) {
      case 0: return now + below(2 * kNear + 1) - kNear;
      case 1: return below(10);
      case 2: return -below(10);
      case 3: return (int64_t{1} << below(33)) - below(2);
      case 4: return -(int64_t{1} << below(33));
      default: return now ^ (int64_t{1} << below(32));
    }
  }

  std::minstd_rand random_;
};

}  // namespace
}  // namespace qrt::fuzz

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using qrt::fuzz::Bytes;
  Bytes file(data, data + size);
  if (seed % 8 == 0 || !qrt::fuzz::is_whole(file)) return LLVMFuzzerMutate(data, size, max_size);
  if (seed % 16 == 1) file = qrt::fuzz::with_defaults(file);
  qrt::fuzz::Mutator(seed).run(&file);
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(file.begin(), file.end(), data);
  return file.size();
}
