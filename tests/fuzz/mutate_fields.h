// Mutation of flatbuffers field by field: one to three numbers change to what is likely to matter, or
// references name what others of their kind name.
#ifndef QRT_TESTS_FUZZ_MUTATE_FIELDS_H_
#define QRT_TESTS_FUZZ_MUTATE_FIELDS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/fields.h"

namespace qrt::fuzz {

class FieldMutator {
 public:
  explicit FieldMutator(unsigned int seed) : random_(seed) {}

  // REQUIRES: a verified flatbuffer of this type.
  void run(std::vector<uint8_t>* file, const flatbuffers::TypeTable* root) {
    const testing::Fields fields = testing::fields_of(*file, root);
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
    constexpr int kNear = 3;
    switch (below(6)) {
      case 0:
        return static_cast<int64_t>(static_cast<uint64_t>(now) +
                                    static_cast<uint64_t>(below(2 * kNear + 1) - kNear));
      case 1: return below(10);
      case 2: return -below(10);
      case 3: return (int64_t{1} << below(33)) - below(2);
      case 4: return -(int64_t{1} << below(33));
      default: return now ^ (int64_t{1} << below(32));
    }
  }

  std::minstd_rand random_;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_MUTATE_FIELDS_H_
