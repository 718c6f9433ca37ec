#include "runtime/tools/test_values.h"

#include <cstring>
#include <sstream>

#include "runtime/tools/counted.h"
#include "runtime/tools/metadata.h"

namespace qrt::tool {
namespace {

std::string list_of(const std::vector<uint32_t>& indices) {
  std::string text;
  for (const uint32_t i : indices) text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

}  // namespace

std::string text_of(const TestBuffers& buffers) {
  return list_of(buffers.inputs) + " > " + list_of(buffers.outputs);
}

Status find_test_buffers(const fb::Model& model, TestBuffers* buffers) {
  std::string text;
  if (!find_metadata(model, kTestValuesKey, &text))
    return error(Code::kInvalidArgument,
                 "the file holds no test values (qrt_convert --digests, or --keep-test-values for "
                 "those of an ESP-DL file or of --test-data, puts them there)");
  std::istringstream words(text);
  std::vector<uint32_t>* to = &buffers->inputs;
  for (std::string word; words >> word;) {
    if (word == ">") {
      to = &buffers->outputs;
      continue;
    }
    const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
    const uint64_t index = is_number && word.size() < 10 ? strtoull(word.c_str(), nullptr, 10) : 0;
    QRT_MODEL_CHECK(index > 0 && index < model.buffers()->size(),
                    "the metadata 'test_values' names buffer '%.20s' of %u", word.c_str(),
                    model.buffers()->size());
    to->push_back(static_cast<uint32_t>(index));
  }
  QRT_MODEL_CHECK(buffers->inputs.size() == model.inputs()->size() &&
                      buffers->outputs.size() == model.outputs()->size(),
                  "test values of %s and %s, the model has %u and %u",
                  counted(buffers->inputs.size(), "input").c_str(),
                  counted(buffers->outputs.size(), "output").c_str(), model.inputs()->size(),
                  model.outputs()->size());
  return {};
}

}  // namespace qrt::tool
