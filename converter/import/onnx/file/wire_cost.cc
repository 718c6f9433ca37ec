// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/wire_cost.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace qrt::convert::from_onnx {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The bytes that the allocator adds to a block and that a repeated field keeps for each element: it
// doubles its list when that is full.
constexpr uint64_t kBlockBytes = 16, kLinkBytes = 2 * sizeof(void*);
constexpr uint64_t kNumberTimes = 2;
// An unknown field is kept as a number with its value, a string or a list of its own fields.
constexpr uint64_t kUnknownBytes = 32, kUnknownBlockBytes = 64;
constexpr uint64_t kTagSteps = 60, kElementSteps = 4;
// The number of levels that the parser follows.
constexpr int kMaxDepth = 100;

// A type of message: its size, and its fields by their number.
struct Type {
  uint64_t bytes = 0;
  std::vector<const FieldDescriptor*> fields;
};

class Counter {
 public:
  Counter(CodedInputStream* stream, Budget* budget) : stream_(*stream), budget_(*budget) {}

  // Counts a message of this type up to the stream's limit; null: of unknown fields, up to the end
  // of their group. Returns false where the bytes are no message, or more than the budget.
  bool count(const Descriptor* descriptor, int depth) {
    const Type* type = descriptor == nullptr ? nullptr : &type_of(descriptor);
    if (depth > kMaxDepth) return false;
    while (const uint32_t tag = stream_.ReadTag()) {
      const auto wire = WireFormatLite::GetTagWireType(tag);
      if (wire == WireFormatLite::WIRETYPE_END_GROUP) return type == nullptr;
      const auto number = static_cast<size_t>(WireFormatLite::GetTagFieldNumber(tag));
      const FieldDescriptor* field =
          type != nullptr && number < type->fields.size() ? type->fields[number] : nullptr;
      if (!take(kTagSteps, 0) || !count_field(field, wire, depth)) return false;
    }
    return stream_.ConsumedEntireMessage();
  }

  Status status() { return std::move(status_); }

 private:
  const Type& type_of(const Descriptor* descriptor) {
    Type& type = types_[descriptor];
    if (type.bytes != 0) return type;
    const Message* prototype = MessageFactory::generated_factory()->GetPrototype(descriptor);
    type.bytes = prototype->SpaceUsedLong() + kBlockBytes + kLinkBytes;
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const auto number = static_cast<size_t>(descriptor->field(i)->number());
      if (number >= type.fields.size()) type.fields.resize(number + 1);
      type.fields[number] = descriptor->field(i);
    }
    return type;
  }

  bool take(uint64_t steps, uint64_t bytes) {
    status_ = budget_.charge(steps);
    if (status_.ok()) status_ = budget_.reserve(bytes);
    return status_.ok();
  }

  bool count_field(const FieldDescriptor* field, WireFormatLite::WireType wire, int depth) {
    switch (wire) {
      case WireFormatLite::WIRETYPE_VARINT: {
        uint64_t value;
        return stream_.ReadVarint64(&value) && take_number(field);
      }
      case WireFormatLite::WIRETYPE_FIXED32: return stream_.Skip(4) && take_number(field);
      case WireFormatLite::WIRETYPE_FIXED64: return stream_.Skip(8) && take_number(field);
      case WireFormatLite::WIRETYPE_START_GROUP:
        return take(0, kUnknownBlockBytes) && count(nullptr, depth + 1);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: return count_block(field, depth);
      default: return false;
    }
  }

  bool take_number(const FieldDescriptor* field) {
    if (field == nullptr) return take(0, kUnknownBytes);
    return !field->is_repeated() || take(0, kNumberTimes * sizeof(uint64_t));
  }

  // Counts a length-delimited field: a string, a message or packed numbers. Returns false where the
  // bytes end too early or cost too much.
  bool count_block(const FieldDescriptor* field, int depth) {
    uint32_t length;
    if (!stream_.ReadVarint32(&length) || length > INT32_MAX) return false;
    const auto size = static_cast<int>(length);
    if (field == nullptr) return take(0, kUnknownBlockBytes + length) && stream_.Skip(size);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: {
        const uint64_t own = field->is_repeated() ? sizeof(std::string) + kLinkBytes : 0;
        return take(0, own + kBlockBytes + length) && stream_.Skip(size);
      }
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        if (!take(0, type_of(field->message_type()).bytes)) return false;
        const CodedInputStream::Limit limit = stream_.PushLimit(size);
        const bool counted = count(field->message_type(), depth + 1);
        stream_.PopLimit(limit);
        return counted;
      }
      default: return count_packed(*field, length);
    }
  }

  bool count_packed(const FieldDescriptor& field, uint32_t length) {
    const int fixed = field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT    ? 4
                      : field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ? 8
                                                                            : 0;
    // Numbers of a known size are counted before their list is made.
    if (fixed != 0) return take(0, length) && stream_.Skip(static_cast<int>(length));
    const bool is_wide = field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                         field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
    const CodedInputStream::Limit limit = stream_.PushLimit(static_cast<int>(length));
    uint64_t numbers = 0, value;
    bool good = take(kElementSteps * length, 0);
    while (good && stream_.BytesUntilLimit() > 0) {
      good = stream_.ReadVarint64(&value);
      ++numbers;
    }
    stream_.PopLimit(limit);
    return good && take(0, kNumberTimes * numbers * (is_wide ? 8 : 4));
  }

  CodedInputStream& stream_;
  Budget& budget_;
  Status status_;
  std::unordered_map<const Descriptor*, Type> types_;
};

}  // namespace

Status reserve_message(const Message& message, CodedInputStream* stream, Budget* budget) {
  Counter counter(stream, budget);
  (void)counter.count(message.GetDescriptor(), 0);
  return counter.status();
}

}  // namespace qrt::convert::from_onnx
