// SPDX-License-Identifier: Apache-2.0
// Changes fields of the flatbuffer behind a plain file's header where they stand, and lets references name what others
// name: names of tensors among them, so that operators read other tensors.
#include "espdl_generated.h"
#include "espdl_types.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_fields.h"

namespace qrt::fuzz {

std::vector<uint8_t> mutate_espdl(const std::vector<uint8_t>& file, unsigned seed) {
  for (const size_t header : {size_t{12}, size_t{16}}) {
    if (file.size() <= header) return {};
    const auto start = file.begin() + static_cast<ptrdiff_t>(header);
    std::vector<uint8_t> model(start, file.end());
    if (!is_whole(model, espdl::VerifyModelBuffer, espdl_types::ModelTypeTable())) continue;
    FieldMutator(seed).run(&model, espdl_types::ModelTypeTable());
    model.insert(model.begin(), file.begin(), start);
    return model;
  }
  return {};
}

}  // namespace qrt::fuzz
