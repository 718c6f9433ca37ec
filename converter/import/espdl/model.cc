// Reading of the flatbuffer and the structural checks of its graph.
#include "converter/import/espdl/model.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "converter/import/common/source_limits.h"
#include "espdl_types.h"
#include "runtime/checked.h"
#include "runtime/unshared.h"

namespace qrt::convert::from_espdl {
namespace {

constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;
constexpr int kMaxDepth = 32, kMaxTables = 1000000;
constexpr size_t kMaxNameBytes = 4096, kMaxDims = 16;
constexpr int kMaxExponent = 100;  // beyond which scales would not be usual float32 numbers

Status read_file(const std::string& path, std::vector<uint8_t>* bytes) {
  const auto close = [](FILE* f) { fclose(f); };
  const std::unique_ptr<FILE, decltype(close)> file(fopen(path.c_str(), "rb"), close);
  if (!file) return error(Code::kIoError, "cannot open '%s': %s", path.c_str(), strerror(errno));
  struct stat info;
  if (fstat(fileno(file.get()), &info) != 0 || !S_ISREG(info.st_mode))
    return error(Code::kIoError, "'%s' is not a regular file", path.c_str());
  const auto size = static_cast<size_t>(info.st_size);
  QRT_MODEL_CHECK(size <= kMaxFileBytes, "'%s' has %zu bytes, the limit is 2 GB", path.c_str(),
                  size);
  bytes->resize(size);
  if (fread(bytes->data(), 1, size, file.get()) != size)
    return error(Code::kIoError, "cannot read '%s'", path.c_str());
  return Status();
}

std::string string_of(const flatbuffers::String* s) { return s ? s->str() : std::string(); }

// flatbuffers verifies the alignment of a vector's length, which is less than that of int64.
template <class T>
T element(const flatbuffers::Vector<T>& v, size_t i) {
  T value;
  memcpy(&value, v.Data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
size_t size_of(const flatbuffers::Vector<T>* v) {
  return v ? v->size() : 0;
}

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

const espdl::Attribute* find_attribute(const Node& node, const char* name,
                                       espdl::AttributeType type) {
  if (!node.table->attribute()) return nullptr;
  for (const espdl::Attribute* a : *node.table->attribute())
    if (a->name() && a->attr_type() == type && strcmp(a->name()->c_str(), name) == 0) return a;
  return nullptr;
}

}  // namespace

int64_t Node::integer(const char* name, int64_t otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::INT);
  return a && a->i() ? a->i()->i() : otherwise;
}

float Node::real(const char* name, float otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::FLOAT);
  return a && a->f() ? a->f()->f() : otherwise;
}

std::string Node::text(const char* name, const std::string& otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::STRING);
  if (!a || !a->s()) return otherwise;
  return std::string(reinterpret_cast<const char*>(a->s()->data()),
                     std::min<size_t>(a->s()->size(), kMaxNameBytes));
}

std::vector<int64_t> Node::integers(const char* name) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::INTS);
  std::vector<int64_t> values;
  for (size_t i = 0; a && i < std::min(size_of(a->ints()), kMaxDims); ++i)
    values.push_back(element(*a->ints(), i));
  return values;
}

Status Model::load(const std::string& path, const std::string& selector, Model* model) {
  std::vector<uint8_t> file;
  QRT_TRY(read_file(path, &file));
  Status status = parse(std::move(file), selector, model);
  return status.ok() ? Status() : std::move(status).at(path);
}

Status Model::list(const std::string& path, std::vector<Entry>* entries) {
  std::vector<uint8_t> file;
  QRT_TRY(read_file(path, &file));
  Status status = list_entries(file, entries);
  return status.ok() ? Status() : std::move(status).at(path);
}

Status Model::parse(std::vector<uint8_t> file, const std::string& selector, Model* model) {
  std::vector<Entry> entries;
  QRT_TRY(list_entries(file, &entries));
  size_t index;
  QRT_TRY(find_entry(entries, selector, &index));
  Status status = model->read_entry(file, entries[index]);
  if (status.ok() || entries[index].name.empty()) return status;
  return std::move(status).at("model '" + entries[index].name + "'");
}

Status Model::parse_plain(std::vector<uint8_t> file, Model* model) {
  model->is_plain_ = true;
  return parse(std::move(file), "", model);
}

Status Model::read_entry(const std::vector<uint8_t>& file, const Entry& entry) {
  const uint8_t* data = file.data() + entry.offset;
  Wrapper wrapper;
  QRT_TRY(read_wrapper(data, entry.bytes, &wrapper));
  for (const size_t header : wrapper.headers) {
    // Copied: an entry may start anywhere, the flatbuffer's numbers count on their alignment.
    bytes_.assign(data + header, data + entry.bytes);
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size(), kMaxDepth, kMaxTables);
    if (bytes_.size() < 8 || !espdl::VerifyModelBuffer(verifier)) continue;
    const espdl::Model& root = *espdl::GetModel(bytes_.data());
    QRT_TRY(check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(bytes_.data()),
                           espdl_types::ModelTypeTable(), bytes_.size()));
    if (!root.graph() || size_of(root.graph()->node()) == 0) continue;
    return read_graph(root);
  }
  return error(
      Code::kInvalidModel,
      "is not a valid ESP-DL model: its flatbuffer is damaged, cut short, or has no operators");
}

int Model::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? -1 : found->second;
}

int Model::tensor_of(const std::string& name) {
  const auto [at, is_new] = index_.emplace(name, static_cast<int>(tensors_.size()));
  if (is_new) {
    tensors_.emplace_back();
    tensors_.back().name = name;
  }
  return at->second;
}

Status Model::read_graph(const espdl::Model& root) {
  const espdl::Graph& graph = *root.graph();
  QRT_TRY(check_node_count(size_of(graph.node())));
  name_ = string_of(graph.name());
  producer_ = string_of(root.producer_name());
  if (root.metadata_props())
    for (const espdl::StringStringEntry* e : *root.metadata_props())
      if (e->key() && e->key()->str() == "target") target_ = string_of(e->value());
  std::vector<Tensor> constants;
  QRT_TRY(read_constants(graph.initializer(), &constants));
  for (Tensor& t : constants) {
    const int at = tensor_of(t.name);
    QRT_MODEL_CHECK(!tensors_[static_cast<size_t>(at)].is_constant, "has two constants '%s'",
                    t.name.c_str());
    tensors_[static_cast<size_t>(at)] = std::move(t);
  }
  QRT_TRY(read_infos(graph));
  QRT_TRY(read_nodes(graph));
  if (graph.output())
    for (const espdl::ValueInfo* v : *graph.output()) {
      const int at = find(string_of(v->name()));
      QRT_MODEL_CHECK(at >= 0, "has an output '%s' that nothing makes",
                      string_of(v->name()).c_str());
      outputs_.push_back(at);
    }
  QRT_MODEL_CHECK(!outputs_.empty(), "has no outputs");
  QRT_TRY(read_constants(graph.test_inputs_value(), &test_inputs_));
  QRT_TRY(read_constants(graph.test_outputs_value(), &test_outputs_));
  return check_order();
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

// Dimensions into a shape; what is beyond its rank becomes the tensor's problem.
Status add_dimension(int64_t d, uint64_t* elements, Tensor* tensor) {
  QRT_MODEL_CHECK(d >= 0, "has a dimension of %lld", static_cast<long long>(d));
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
  // What files share between tensors is little: more than this was made to exhaust the memory.
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

  QRT_MODEL_CHECK(elements <= kMaxFileBytes / each, "has %llu elements, more than a file holds",
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
  // Small ones stand in vectors of their own.
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

Status Model::read_nodes(const espdl::Graph& graph) {
  size_t edges = 0;
  for (const espdl::Node* source : *graph.node()) {
    Node node;
    node.index = static_cast<int>(nodes_.size());
    node.table = source;
    for (const auto* s : {source->op_type(), source->name()})
      QRT_MODEL_CHECK(!s || s->size() <= kMaxNameBytes, "operator %d has too long a name",
                      node.index);
    node.op = string_of(source->op_type());
    node.name = string_of(source->name());
    // Every name in a list takes four bytes of the file, unless operators share their lists.
    edges += size_of(source->input()) + size_of(source->output()) + size_of(source->attribute());
    QRT_MODEL_CHECK(edges <= bytes_.size() / 4,
                    "its operators have more inputs and outputs than the file holds");
    const auto add = [&](const auto* names, std::vector<int>* to) -> Status {
      for (size_t i = 0; i < size_of(names); ++i) {
        const flatbuffers::String& name = *names->Get(static_cast<uint32_t>(i));
        QRT_MODEL_CHECK(name.size() <= kMaxNameBytes,
                        "operator %d has a value with too long a name", node.index);
        to->push_back(name.size() == 0 ? -1 : tensor_of(name.str()));
      }
      return Status();
    };
    QRT_TRY(add(source->input(), &node.inputs));
    QRT_TRY(add(source->output(), &node.outputs));
    nodes_.push_back(std::move(node));
  }
  return Status();
}

Status Model::check_order() const {
  std::vector<bool> known(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) known[i] = tensors_[i].is_constant;
  const auto name = [&](int i) { return tensors_[static_cast<size_t>(i)].name.c_str(); };
  for (int i : inputs_) {
    QRT_MODEL_CHECK(!known[static_cast<size_t>(i)], "input '%s' stands twice", name(i));
    known[static_cast<size_t>(i)] = true;
  }
  for (const Node& node : nodes_) {
    for (int i : node.inputs)
      QRT_MODEL_CHECK(i < 0 || known[static_cast<size_t>(i)],
                      "operator %d (%s) reads '%s', which nothing wrote before", node.index,
                      node.op.c_str(), name(i));
    for (int i : node.outputs) {
      if (i < 0) continue;
      QRT_MODEL_CHECK(
          !known[static_cast<size_t>(i)],
          "operator %d (%s) writes '%s', which is a constant, an input, or written before",
          node.index, node.op.c_str(), name(i));
      known[static_cast<size_t>(i)] = true;
    }
  }
  for (int i : outputs_)
    QRT_MODEL_CHECK(known[static_cast<size_t>(i)], "nothing makes the output '%s'", name(i));
  return Status();
}

}  // namespace qrt::convert::from_espdl
