// SPDX-License-Identifier: Apache-2.0
#include "converter/wasm/source.h"

#include "converter/import/common/source_file.h"
#include "runtime/tools/budget.h"

namespace qrt {
namespace {

const uint8_t* source = nullptr;
size_t source_bytes = 0;

}  // namespace

Budget Budget::of_files(const std::vector<std::string>&) { return Budget(source_bytes); }

namespace convert {

void set_source(const uint8_t* data, size_t bytes) {
  source = data;
  source_bytes = bytes;
}

Status read_source_file(const std::string& path, const char* format, std::vector<uint8_t>* bytes) {
  QRT_MODEL_CHECK(source_bytes <= kMaxSourceBytes, "'%s' has %zu bytes; %s file is limited to 2 GB",
                  path.c_str(), source_bytes, format);
  bytes->assign(source, source + source_bytes);
  return {};
}

}  // namespace convert
}  // namespace qrt
