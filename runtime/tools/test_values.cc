#include "runtime/tools/test_values.h"

#include <cstring>
#include <sstream>

namespace qrt::tool {
namespace {

std::string list_of(const std::vector<uint32_t>& indices) {
  std::string text;
  for (const uint32_t i : indices) text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

// A number as it is read, or bytes.
std::string text_of(DType dtype, const uint8_t* element, size_t bytes) {
  const auto number = [&](auto value) {
    memcpy(&value, element, sizeof value);
    std::ostringstream text;
    text.precision(9);
    text << +value;
    return text.str();
  };
  switch (dtype) {
    case DType::kInt8: return number(int8_t{});
    case DType::kUInt8:
    case DType::kBool: return number(uint8_t{});
    case DType::kInt16: return number(int16_t{});
    case DType::kUInt16: return number(uint16_t{});
    case DType::kInt32: return number(int32_t{});
    case DType::kUInt32: return number(uint32_t{});
    case DType::kInt64: return number(int64_t{});
    case DType::kFloat32: return number(float{});
    default: break;
  }
  std::string text = "0x";
  for (size_t i = bytes; i-- > 0;) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", element[i]);
    text += digits;
  }
  return text;
}

}  // namespace

std::string text_of(const TestBuffers& buffers) {
  return list_of(buffers.inputs) + " > " + list_of(buffers.outputs);
}

Status find_test_buffers(const fb::Model& model, TestBuffers* buffers) {
  const std::string* told = nullptr;
  std::string text;
  if (model.metadata() != nullptr)
    for (const fb::KeyValue* entry : *model.metadata())
      if (told == nullptr && entry->key() != nullptr && entry->key()->str() == kTestValuesKey &&
          entry->value() != nullptr) {
        text = entry->value()->str();
        told = &text;
      }
  if (told == nullptr)
    return error(Code::kInvalidArgument,
                 "the file holds no test values (qrt_convert --keep-test-values puts them there)");
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
                  "test values of %zu inputs and %zu outputs, the model has %u and %u",
                  buffers->inputs.size(), buffers->outputs.size(), model.inputs()->size(),
                  model.outputs()->size());
  return {};
}

Difference compare(DType dtype, const void* got, const void* expected, size_t bytes) {
  const auto *a = static_cast<const uint8_t*>(got), *b = static_cast<const uint8_t*>(expected);
  const size_t element = dtype_bytes(dtype) == 0 ? 1 : dtype_bytes(dtype);
  Difference result;
  result.elements = bytes / element;
  for (size_t i = 0; i < result.elements; ++i) {
    if (memcmp(a + i * element, b + i * element, element) == 0) continue;
    if (result.different++ > 0) continue;
    result.first = i;
    result.got = text_of(dtype, a + i * element, element);
    result.expected = text_of(dtype, b + i * element, element);
  }
  return result;
}

}  // namespace qrt::tool
