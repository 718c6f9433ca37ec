// SPDX-License-Identifier: Apache-2.0
// Tensors of a model: constants with their data, and what the file says of activations.
#include "converter/import/common/source_file.h"
#include "converter/import/espdl/fields.h"
#include "converter/import/espdl/model.h"

namespace qrt::convert::from_espdl {
namespace {

constexpr int kMaxExponent = 100;  // beyond which scales would not be usual float32 numbers

// Elements of a vector of numbers as elements of `bytes` bytes, low byte first.
template <class T>
std::vector<uint8_t> narrowed(const flatbuffers::Vector<T>& v, size_t count, size_t bytes) {
  std::vector<uint8_t> out(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    int64_t bits = 0;
    const T value = element(v, i);
    if (std::is_same<T, float>::value)
      memcpy(&bits, &value, sizeof value);
    else
      bits = static_cast<int64_t>(value);
    memcpy(out.data() + i * bytes, &bits, bytes);
  }
  return out;
}

}  // namespace

const char* type_name(DataType type) {
  switch (type) {
    case DataType::FLOAT: return "float32";
    case DataType::UINT8: return "uint8";
    case DataType::INT8: return "int8";
    case DataType::UINT16: return "uint16";
    case DataType::INT16: return "int16";
    case DataType::INT32: return "int32";
    case DataType::INT64: return "int64";
    case DataType::STRING: return "string";
    case DataType::BOOL: return "bool";
    case DataType::FLOAT16: return "float16";
    case DataType::DOUBLE: return "float64";
    case DataType::UINT32: return "uint32";
    case DataType::UINT64: return "uint64";
    case DataType::UNDEFINED: break;
  }
  return "of no type";
}

size_t element_bytes(DataType type) {
  switch (type) {
    case DataType::INT8:
    case DataType::UINT8:
    case DataType::BOOL: return 1;
    case DataType::INT16:
    case DataType::UINT16:
    case DataType::FLOAT16: return 2;
    case DataType::FLOAT:
    case DataType::INT32:
    case DataType::UINT32: return 4;
    case DataType::INT64:
    case DataType::UINT64:
    case DataType::DOUBLE: return 8;
    case DataType::STRING:
    case DataType::UNDEFINED: break;
  }
  return 0;
}

std::vector<int64_t> Tensor::integers() const {
  std::vector<int64_t> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DataType::INT64) {
      memcpy(&values[i], data + i * sizeof(int64_t), sizeof(int64_t));
    } else {
      int32_t value;
      memcpy(&value, data + i * sizeof value, sizeof value);
      values[i] = value;
    }
  }
  return values;
}

namespace {

Status read_exponents(const flatbuffers::Vector<int64_t>* source, std::vector<int>* exponents) {
  for (size_t i = 0; i < size_of(source); ++i) {
    const int64_t e = element(*source, i);
    QRT_MODEL_CHECK(e >= -kMaxExponent && e <= kMaxExponent,
                    "has the exponent %lld, expected %d to %d", static_cast<long long>(e),
                    -kMaxExponent, kMaxExponent);
    exponents->push_back(static_cast<int>(e));
  }
  return Status();
}

// Appends a dimension to a tensor's shape. More dimensions than a shape can have become the
// tensor's problem, as only its use is an error.
Status add_dimension(int64_t d, uint64_t* elements, Tensor* tensor) {
  QRT_MODEL_CHECK(d >= 0, "has a dimension of %lld, expected 0 or more", static_cast<long long>(d));
  QRT_MODEL_CHECK(
      d == 0 || *elements <= static_cast<uint64_t>(kMaxElements) / static_cast<uint64_t>(d),
      "has more than 2^40 elements");
  *elements *= static_cast<uint64_t>(d);
  if (tensor->shape.rank() < kMaxTensorRank)
    tensor->shape.push_back(d);
  else
    tensor->problem = "has more than 6 dimensions";
  return Status();
}

}  // namespace

Status Model::read_constants(const flatbuffers::Vector<flatbuffers::Offset<espdl::Tensor>>* from,
                             std::vector<Tensor>* to) {
  // Real files share little between tensors: one that shares more was made to exhaust the memory.
  size_t exponents = 0;
  for (size_t i = 0; i < size_of(from); ++i) {
    const espdl::Tensor& source = *from->Get(static_cast<uint32_t>(i));
    Tensor tensor;
    QRT_MODEL_CHECK(!source.name() || source.name()->size() <= kMaxNameBytes,
                    "the name of constant %zu is too long", i);
    tensor.name = string_of(source.name());
    exponents += size_of(source.exponents());
    QRT_MODEL_CHECK(exponents <= bytes_.size(),
                    "its constants have more exponents than the file holds");
    Status status = read_constant(source, &tensor);
    if (!status.ok()) return std::move(status).at("constant '" + tensor.name + "'");
    to->push_back(std::move(tensor));
  }
  return Status();
}

Status Model::read_constant(const espdl::Tensor& source, Tensor* tensor) {
  tensor->type = source.data_type();
  tensor->is_constant = true;
  QRT_MODEL_CHECK(tensor->type >= DataType::MIN && tensor->type <= DataType::MAX,
                  "has the element type %d, which does not exist", static_cast<int>(tensor->type));
  QRT_MODEL_CHECK(size_of(source.dims()) <= kMaxDims, "has %zu dimensions", size_of(source.dims()));
  uint64_t elements = 1;
  for (size_t i = 0; i < size_of(source.dims()); ++i)
    QRT_TRY(add_dimension(element(*source.dims(), i), &elements, tensor));
  QRT_TRY(read_exponents(source.exponents(), &tensor->exponents));
  const std::string doc = source.doc_string() && source.doc_string()->size() <= kMaxNameBytes
                              ? source.doc_string()->str()
                              : "";
  const std::string mark = "layout ==> ";
  if (const size_t at = doc.find(mark); at != std::string::npos)
    tensor->layout = doc.substr(at + mark.size());
  if (source.data_location() == espdl::DataLocation::EXTERNAL)
    tensor->problem = "lies outside the file";
  const size_t each = element_bytes(tensor->type);
  if (each == 0 && elements > 0) tensor->problem = std::string("is ") + type_name(tensor->type);
  if (!tensor->problem.empty() || elements == 0) return Status();

  QRT_MODEL_CHECK(elements <= kMaxSourceBytes / each, "has %llu elements, more than a file holds",
                  static_cast<unsigned long long>(elements));
  const auto count = static_cast<size_t>(elements);
  tensor->bytes = count * each;
  if (source.raw_data()) {
    const uint8_t* begin = source.raw_data()->data();
    const auto left = static_cast<size_t>(bytes_.data() + bytes_.size() - begin);
    QRT_MODEL_CHECK(tensor->bytes <= left, "has %zu bytes, of which the file holds %zu",
                    tensor->bytes, left);
    tensor->data = begin;
    return Status();
  }
  // Small constants stand in vectors of numbers instead of bytes.
  std::vector<uint8_t> bytes;
  converted_bytes_ += tensor->bytes;
  QRT_MODEL_CHECK(converted_bytes_ <= 2 * bytes_.size() + 1024,
                  "its small constants are larger than the file");
  if (tensor->type == DataType::FLOAT && size_of(source.float_data()) >= count)
    bytes = narrowed(*source.float_data(), count, each);
  else if (tensor->type == DataType::INT64 && size_of(source.int64_data()) >= count)
    bytes = narrowed(*source.int64_data(), count, each);
  else if (each <= sizeof(int32_t) && tensor->type != DataType::FLOAT &&
           size_of(source.int32_data()) >= count)
    bytes = narrowed(*source.int32_data(), count, each);
  QRT_MODEL_CHECK(!bytes.empty(), "of shape %s and type %s has no data",
                  tensor->shape.to_string().c_str(), type_name(tensor->type));
  converted_.push_back(std::make_unique<std::vector<uint8_t>>(std::move(bytes)));
  tensor->data = converted_.back()->data();
  return Status();
}

Status Model::read_info(const espdl::ValueInfo& source, Tensor* tensor) const {
  const espdl::TypeInfo* info = source.value_info_type();
  const auto* type = info ? info->value_as_tensor_type() : nullptr;
  QRT_MODEL_CHECK(type != nullptr, "'%s' is no tensor", tensor->name.c_str());
  tensor->type = type->elem_type();
  QRT_MODEL_CHECK(tensor->type >= DataType::MIN && tensor->type <= DataType::MAX,
                  "'%s' has the element type %d, which does not exist", tensor->name.c_str(),
                  static_cast<int>(tensor->type));
  tensor->shape = Shape();
  tensor->exponents.clear();
  uint64_t elements = 1;
  const auto* dims = type->shape() ? type->shape()->dim() : nullptr;
  QRT_MODEL_CHECK(size_of(dims) <= kMaxDims, "'%s' has %zu dimensions", tensor->name.c_str(),
                  size_of(dims));
  for (size_t i = 0; i < size_of(dims); ++i) {
    const espdl::Dimension& d = *dims->Get(static_cast<uint32_t>(i));
    const bool is_known = d.value() && d.value()->dim_type() == espdl::DimensionValueType::VALUE;
    QRT_TRY(add_dimension(is_known ? d.value()->dim_value() : 1, &elements, tensor));
  }
  QRT_MODEL_CHECK(size_of(source.exponents()) <= 1, "'%s' has %zu exponents, an activation has one",
                  tensor->name.c_str(), size_of(source.exponents()));
  return read_exponents(source.exponents(), &tensor->exponents);
}

// Inputs and outputs after the rest: of what stands twice they count.
Status Model::read_infos(const espdl::Graph& graph) {
  for (const auto* infos : {graph.value_info(), graph.output(), graph.input()}) {
    if (!infos) continue;
    for (const espdl::ValueInfo* v : *infos) {
      QRT_MODEL_CHECK(v->name() && v->name()->size() <= kMaxNameBytes,
                      "a value has no name, or too long a one");
      const int at = tensor_of(v->name()->str());
      Tensor& tensor = tensors_[static_cast<size_t>(at)];
      if (tensor.is_constant) continue;
      QRT_TRY(read_info(*v, &tensor));
      if (infos == graph.input()) inputs_.push_back(at);
    }
  }
  return Status();
}

}  // namespace qrt::convert::from_espdl
