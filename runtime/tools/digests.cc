// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/digests.h"

#include <sstream>

#include "runtime/tools/counted.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/metadata.h"
#include "runtime/traits.h"

namespace qrt::tool {
namespace {

constexpr size_t kDigits = 16;

std::string digest_of_constants(const fb::Model& file, const fb::Operator& op) {
  Fnv1a digest;
  const auto add = [&](uint32_t buffer) {
    if (buffer == 0) return;
    const auto* data = file.buffers()->Get(buffer)->data();
    if (data != nullptr) digest.add(data->data(), data->size());
  };
  if (op.inputs() != nullptr)
    for (const uint32_t input : *op.inputs()) add(file.tensors()->Get(input)->buffer());
  add(traits_of(op.options_type()).constants.table_of(op));
  return digest.text();
}

bool is_digest(const std::string& text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Status operator_digests(const fb::Model& file, const Session& session,
                        std::vector<OperatorDigest>* digests) {
  digests->clear();
  size_t next = 0;  // of the session's tensors
  for (const fb::Operator* op : *file.operators()) {
    Fnv1a outputs;
    for (size_t i = 0; i < op->outputs()->size(); ++i) {
      qrt_tensor_info info{};
      qrt_struct_init(&info);
      const void* data = nullptr;
      const qrt_status status = qrt_session_tensor(session.get(), next, &info, &data);
      if (status != QRT_OK)
        return error(Code::kInternal, "tensor %zu of an operator cannot be read: %s", next,
                     qrt_status_name(status));
      outputs.add(data, info.bytes);
      ++next;
    }
    digests->push_back({digest_of_constants(file, *op), outputs.text()});
  }
  return {};
}

std::string text_of(const std::vector<OperatorDigest>& digests) {
  std::string text;
  for (const OperatorDigest& d : digests)
    text += (text.empty() ? "" : " ") + d.constants + ":" + d.outputs;
  return text;
}

Status find_digests(const fb::Model& file, std::vector<OperatorDigest>* digests) {
  digests->clear();
  std::string text;
  if (!find_metadata(file, kDigestsKey, &text)) return {};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    OperatorDigest d;
    if (word.size() == 2 * kDigits + 1 && word[kDigits] == ':')
      d = {word.substr(0, kDigits), word.substr(kDigits + 1)};
    QRT_MODEL_CHECK(is_digest(d.constants) && is_digest(d.outputs),
                    "the metadata 'digests' holds '%.40s', expected 16 digits, ':', 16 digits",
                    word.c_str());
    digests->push_back(d);
  }
  QRT_MODEL_CHECK(digests->size() == file.operators()->size(), "digests of %s, the model has %u",
                  counted(digests->size(), "operator").c_str(), file.operators()->size());
  return {};
}

}  // namespace qrt::tool
