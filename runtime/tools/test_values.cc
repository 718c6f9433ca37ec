// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/test_values.h"

#include "runtime/sizes.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/metadata.h"
#include "runtime/tools/words.h"

namespace qrt::tool {
namespace {

template <class T>
std::string list_of(const std::vector<T>& numbers) {
  std::string text;
  for (const T n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text;
}

// Reads a whole number of at most 10 digits; -1 for anything else.
int64_t number_of(const std::string& word) {
  constexpr size_t kMostDigits = 10;
  const bool is_number =
      word.size() <= kMostDigits && word.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(word) : -1;
}

}  // namespace

std::string text_of(const TestBuffers& buffers) {
  const std::string text = list_of(buffers.inputs) + " > " + list_of(buffers.outputs);
  return buffers.sizes.empty() ? text : text + " @ " + list_of(buffers.sizes);
}

Status find_test_buffers(const VerifiedModel& model, TestBuffers* buffers) {
  const fb::Model& file = model.file();
  std::string text;
  if (!find_metadata(file, kTestValuesKey, &text))
    return error(Code::kInvalidArgument,
                 "the file holds no test values (qrt_convert --digests, or --keep-test-values for "
                 "those of an ESP-DL file or of --test-data, puts them there)");
  std::vector<uint32_t>* to = &buffers->inputs;
  for (const std::string& word : words_of(text)) {
    if (word == ">" || word == "@") {
      to = word == ">" ? &buffers->outputs : nullptr;
      continue;
    }
    const int64_t number = number_of(word);
    if (to == nullptr) {
      QRT_MODEL_CHECK(number >= 0, "the metadata 'test_values' has a size of '%.20s'",
                      word.c_str());
      buffers->sizes.push_back(number);
      continue;
    }
    QRT_MODEL_CHECK(number > 0 && number < file.buffers()->size(),
                    "the metadata 'test_values' names buffer '%.20s' of %u", word.c_str(),
                    file.buffers()->size());
    to->push_back(static_cast<uint32_t>(number));
  }
  QRT_MODEL_CHECK(buffers->inputs.size() == file.inputs()->size() &&
                      buffers->outputs.size() == file.outputs()->size(),
                  "test values of %s and %s, the model has %u and %u",
                  counted(buffers->inputs.size(), "input").c_str(),
                  counted(buffers->outputs.size(), "output").c_str(), file.inputs()->size(),
                  file.outputs()->size());
  const size_t open = symbol_count(file) + (model.has_batch() ? 1 : 0);
  QRT_MODEL_CHECK(buffers->sizes.empty() || buffers->sizes.size() == open,
                  "the metadata 'test_values' has %s, the model %s",
                  counted(buffers->sizes.size(), "size").c_str(),
                  counted(open, "open dimension").c_str());
  return {};
}

}  // namespace qrt::tool
