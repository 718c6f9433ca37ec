// SPDX-License-Identifier: Apache-2.0
// A model file's metadata.
#ifndef QRT_RUNTIME_TOOLS_METADATA_H_
#define QRT_RUNTIME_TOOLS_METADATA_H_

#include <string>

#include "qrt_model_generated.h"

namespace qrt::tool {

// Finds the first value of a key of a verified model. Returns false where it has none.
inline bool find_metadata(const fb::Model& file, const char* key, std::string* value) {
  if (file.metadata() == nullptr) return false;
  for (const fb::KeyValue* entry : *file.metadata())
    if (entry->key() != nullptr && entry->key()->str() == key && entry->value() != nullptr) {
      *value = entry->value()->str();
      return true;
    }
  return false;
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_METADATA_H_
