// SPDX-License-Identifier: Apache-2.0
// See structure.h. A file of its own: the schema's tables of types are long.
#include "runtime/structure.h"

#include "qrt_model_types.h"
#include "runtime/unshared.h"
#include "runtime/verify.h"

namespace qrt {
namespace {

static_assert(FLATBUFFERS_LITTLEENDIAN, "models are used in place: little-endian only");

constexpr size_t kSmallestFile = 16;

}  // namespace

Status check_structure(const ModelBytes& bytes) {
  QRT_MODEL_CHECK(bytes.size() >= kSmallestFile, "%zu bytes are too few for a model", bytes.size());
  QRT_MODEL_CHECK(bytes.size() <= kMaxFileBytes, "%zu bytes are too many for a model (limit %zu)",
                  bytes.size(), kMaxFileBytes);
  QRT_MODEL_CHECK(fb_types::ModelBufferHasIdentifier(bytes.data()),
                  "not a .qrt file (no '%s' at byte 4)", fb_types::ModelIdentifier());
  constexpr flatbuffers::uoffset_t kDepth = 16, kTables = 1u << 22;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kDepth, kTables);
  QRT_MODEL_CHECK(fb_types::VerifyModelBuffer(verifier),
                  "the file is damaged: its flatbuffer structure is not sound");
  return check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(bytes.data()),
                        fb_types::ModelTypeTable(), bytes.size());
}

}  // namespace qrt
