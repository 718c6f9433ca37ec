// SPDX-License-Identifier: Apache-2.0
// The two files together: which variable is the input, and the params of the others.
#include "converter/import/cvm/model.h"

#include <cstring>

#include "converter/import/cvm/symbol.h"
#include "runtime/model_bytes.h"

namespace qrt::convert::from_cvm {
namespace {

constexpr uint64_t kListMagic = 0xF7E58D4F05049CB7, kTensorMagic = 0xDD5E40F096B4A13F;

// A cursor over the params, little-endian.
class Bytes {
 public:
  Bytes(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}

  size_t at() const { return at_; }
  template <class T>
  Status read(const char* what, T* value) {
    QRT_MODEL_CHECK(size_ - at_ >= sizeof(T), "byte %zu: the file ends within %s", at_, what);
    memcpy(value, bytes_ + at_, sizeof(T));
    at_ += sizeof(T);
    return Status();
  }
  Status skip(const char* what, uint64_t count, const uint8_t** start) {
    QRT_MODEL_CHECK(count <= size_ - at_, "byte %zu: the file ends within %s (%llu bytes)", at_,
                    what, static_cast<unsigned long long>(count));
    *start = bytes_ + at_;
    at_ += static_cast<size_t>(count);
    return Status();
  }

 private:
  const uint8_t* bytes_;
  size_t size_;
  size_t at_ = 0;
};

// Reads one tensor, of `expected` shape and values of at most `limit`.
Status read_tensor(const std::string& name, const Entry& entry, Bytes* bytes,
                   std::vector<int32_t>* values) {
  const size_t start = bytes->at();
  const std::string quoted = "params of '" + name + "'";
  uint64_t magic = 0, reserved = 0;
  QRT_TRY(bytes->read(quoted.c_str(), &magic));
  QRT_MODEL_CHECK(magic == kTensorMagic, "byte %zu: %s do not start with a tensor's magic number",
                  start, quoted.c_str());
  QRT_TRY(bytes->read(quoted.c_str(), &reserved));
  int32_t device_type = 0, device_id = 0, rank = 0;
  uint8_t code = 0, bits = 0;
  uint16_t lanes = 0;
  QRT_TRY(bytes->read(quoted.c_str(), &device_type));
  QRT_TRY(bytes->read(quoted.c_str(), &device_id));
  QRT_TRY(bytes->read(quoted.c_str(), &rank));
  QRT_TRY(bytes->read(quoted.c_str(), &code));
  QRT_TRY(bytes->read(quoted.c_str(), &bits));
  QRT_TRY(bytes->read(quoted.c_str(), &lanes));
  QRT_MODEL_CHECK(code == 0 && (bits == 8 || bits == 32) && lanes == 1,
                  "byte %zu: %s have type code %d of %d bits and %d lanes, expected int8 or int32",
                  start, quoted.c_str(), code, bits, lanes);
  QRT_MODEL_CHECK(rank == entry.shape.rank(), "byte %zu: %s have %d dimensions, the graph says %s",
                  start, quoted.c_str(), rank, entry.shape.to_string().c_str());
  for (int i = 0; i < rank; ++i) {
    int64_t d = 0;
    QRT_TRY(bytes->read(quoted.c_str(), &d));
    QRT_MODEL_CHECK(d == entry.shape[i], "byte %zu: dimension %d of %s is %lld, the graph says %s",
                    start, i, quoted.c_str(), static_cast<long long>(d),
                    entry.shape.to_string().c_str());
  }
  int64_t size = 0;
  QRT_TRY(bytes->read(quoted.c_str(), &size));
  const int64_t count = entry.shape.elements();
  QRT_MODEL_CHECK(size == count * (bits / 8), "byte %zu: %s have %lld bytes, expected %lld", start,
                  quoted.c_str(), static_cast<long long>(size),
                  static_cast<long long>(count * (bits / 8)));
  const uint8_t* data = nullptr;
  QRT_TRY(bytes->skip(quoted.c_str(), static_cast<uint64_t>(size), &data));
  values->resize(static_cast<size_t>(count));
  if (bits == 32) {
    memcpy(values->data(), data, static_cast<size_t>(size));
  } else {
    for (size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<int8_t>(data[i]);
  }
  const int64_t limit = alpha(entry.precision);
  for (size_t i = 0; i < values->size(); ++i) {
    const int64_t v = (*values)[i];
    QRT_MODEL_CHECK(v >= -limit && v <= limit,
                    "%s: element %zu is %lld, precision %d takes -%lld to %lld", quoted.c_str(), i,
                    static_cast<long long>(v), entry.precision, static_cast<long long>(limit),
                    static_cast<long long>(limit));
  }
  return Status();
}

}  // namespace

std::string label(const Node& node, size_t index) {
  return "node " + std::to_string(index) + " (" + (node.is_variable ? "variable" : node.function) +
         " '" + node.name.substr(0, 64) + "')";
}

Status Model::load(const std::string& symbol_path, const std::string& params_path, Model* model) {
  auto text = ModelBytes::map_file(symbol_path.c_str());
  if (!text.ok()) return std::move(text.status()).at(symbol_path);
  Status status =
      model->parse_symbol(std::string(reinterpret_cast<const char*>(text->data()), text->size()));
  if (!status.ok()) return std::move(status).at(symbol_path);
  auto params = ModelBytes::map_file(params_path.c_str());
  if (!params.ok()) return std::move(params.status()).at(params_path);
  status = model->parse_params(params->data(), params->size());
  return status.ok() ? Status() : std::move(status).at(params_path);
}

Status Model::parse(const std::string& symbol, const std::vector<uint8_t>& params, Model* model) {
  QRT_TRY(model->parse_symbol(symbol));
  return model->parse_params(params.data(), params.size());
}

Status Model::parse_symbol(const std::string& text) {
  file_bytes_ += text.size();
  Symbol symbol;
  QRT_TRY(from_cvm::parse_symbol(text, &symbol));
  version_ = std::move(symbol.version);
  nodes_ = std::move(symbol.nodes);
  entries_ = std::move(symbol.entries);
  heads_ = std::move(symbol.heads);
  return find_input();
}

Status Model::find_input() {
  std::map<std::string, size_t> seen;
  bool found = false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.is_variable) continue;
    const std::string where = label(node, i);
    QRT_MODEL_CHECK(seen.emplace(node.name, i).second, "%s: node %zu has that name, too",
                    where.c_str(), seen[node.name]);
    QRT_MODEL_CHECK(entries_[node.first_output].precision != kNoPrecision,
                    "%s has no precision, expected 1 to %d", where.c_str(), kMaxPrecision);
    if (node.name != "data") continue;
    input_ = node.first_output;
    found = true;
  }
  QRT_MODEL_CHECK(found, "no variable is called 'data': that is a model's input");
  return Status();
}

Status Model::parse_params(const uint8_t* data, size_t size) {
  file_bytes_ += size;
  Bytes bytes(data, size);
  uint64_t magic = 0, reserved = 0, names = 0, tensors = 0;
  QRT_TRY(bytes.read("the header", &magic));
  QRT_MODEL_CHECK(magic == kListMagic,
                  "byte 0: the file does not start with the magic number of "
                  "params (b7 9c 04 05 4f 8d e5 f7)");
  QRT_TRY(bytes.read("the header", &reserved));
  QRT_TRY(bytes.read("the number of names", &names));
  std::map<std::string, EntryId> variables;
  for (const Node& node : nodes_)
    if (node.is_variable && node.first_output != input_)
      variables.emplace(node.name, node.first_output);
  QRT_MODEL_CHECK(names <= variables.size(), "byte 16: %llu names, the graph has %zu parameters",
                  static_cast<unsigned long long>(names), variables.size());
  std::vector<std::pair<std::string, EntryId>> order;
  for (uint64_t i = 0; i < names; ++i) {
    const size_t start = bytes.at();
    uint64_t length = 0;
    const uint8_t* text = nullptr;
    QRT_TRY(bytes.read("the length of a name", &length));
    QRT_TRY(bytes.skip("a name", length, &text));
    const std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(length));
    const auto found = variables.find(name);
    QRT_MODEL_CHECK(found != variables.end(), "byte %zu: '%s' is no parameter of the graph", start,
                    name.substr(0, 64).c_str());
    order.emplace_back(name, found->second);
  }
  const size_t start = bytes.at();
  QRT_TRY(bytes.read("the number of tensors", &tensors));
  QRT_MODEL_CHECK(tensors == names, "byte %zu: %llu tensors for %llu names", start,
                  static_cast<unsigned long long>(tensors), static_cast<unsigned long long>(names));
  for (const auto& [name, entry] : order) {
    QRT_MODEL_CHECK(parameters_.count(entry) == 0, "byte %zu: '%s' stands twice", bytes.at(),
                    name.c_str());
    QRT_TRY(read_tensor(name, entries_[entry], &bytes, &parameters_[entry]));
  }
  for (const auto& [name, entry] : variables)
    QRT_MODEL_CHECK(parameters_.count(entry) != 0, "the parameter '%s' of the graph is missing",
                    name.substr(0, 64).c_str());
  return Status();
}

}  // namespace qrt::convert::from_cvm
