// SPDX-License-Identifier: Apache-2.0
// Mutation of flatbuffers field by field: one to three numbers change to what is likely to matter, or
// references name what others of their kind name.
#ifndef QRT_TESTS_FUZZ_MUTATE_FIELDS_H_
#define QRT_TESTS_FUZZ_MUTATE_FIELDS_H_

#include <cstdint>
#include <vector>

#include "tests/fuzz/mutate_numbers.h"
#include "tests/support/fields.h"

namespace qrt::fuzz {

// Returns whether a file of a source format is valid. `verify`: VerifyModelBuffer of its schema.
template <class Verify>
bool is_whole(const std::vector<uint8_t>& file, const Verify& verify,
              const flatbuffers::TypeTable* root) {
  flatbuffers::Verifier verifier(file.data(), file.size(), 32, 1u << 20);
  return verify(verifier) &&
         check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(file.data()), root, file.size())
             .ok();
}

class FieldMutator {
 public:
  explicit FieldMutator(unsigned seed) : any_(seed) {}

  // REQUIRES: a verified flatbuffer of this type.
  void run(std::vector<uint8_t>* file, const flatbuffers::TypeTable* root) {
    const testing::Fields fields = testing::fields_of(*file, root);
    for (int n = 1 + any_.below(3); n > 0; --n) {
      if (any_.below(4) == 0 && !fields.references.empty()) {
        const testing::Reference& reference =
            fields.references[any_.pick(fields.references.size())];
        // Most others are of another kind, or stand before it.
        for (int tries = 0; tries < 50; ++tries)
          if (testing::redirect(file, reference,
                                fields.references[any_.pick(fields.references.size())]))
            break;
      } else if (!fields.numbers.empty()) {
        const testing::Field& field = fields.numbers[any_.pick(fields.numbers.size())];
        testing::set(file, field, any_.value(testing::get(*file, field)));
      }
    }
  }

 private:
  NumberMutator any_;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_MUTATE_FIELDS_H_
