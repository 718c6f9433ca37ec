// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/integer_model.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "converter/convert.h"
#include "runtime/sizes.h"
#include "runtime/verify.h"

namespace qrt::quantize {
namespace {

// A file in memory only: the front ends read files, and an interrupted run leaves none behind.
class MemoryFile {
 public:
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  Status create(const std::string& bytes) {
    fd_ = memfd_create("model", MFD_CLOEXEC);
    if (fd_ < 0) return error(Code::kIoError, "a file in memory: %s", strerror(errno));
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n = write(fd_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return error(Code::kOutOfMemory, "a file in memory: %s", strerror(errno));
      done += static_cast<size_t>(n);
    }
    return {};
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_ = -1;
};

Status import_qdq(const MemoryFile& file, const Arithmetic& arithmetic, convert::Graph* graph,
                  convert::Report* report) {
  if (!arithmetic.espdl.empty())
    return convert::import_onnx_as_espdl(file.path(), arithmetic.espdl, graph, report);
  return convert::import_onnx(file.path(), graph, report, arithmetic.allow_float);
}

uint32_t float_bits(double v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

// Reals at an edge, whose own value is integers in CVM.
convert::ValueId real_of(const CvmModel::Edge& edge, convert::ValueId integers,
                         convert::Graph* graph) {
  convert::Value& q = graph->values[integers];
  q.name = edge.name + "_quantized";
  convert::Value real;
  real.name = edge.name;
  real.type = {DType::kFloat32, q.type.shape};
  return graph->add_value(std::move(real));
}

void add_float_input(const CvmModel::Edge& edge, convert::Graph* graph) {
  const convert::ValueId integers = graph->inputs[0], x = real_of(edge, integers, graph);
  convert::Node node =
      convert::make_node<fb::QuantizeOptionsT>(edge.name, "input", {x}, {integers});
  auto& o = convert::options<fb::QuantizeOptionsT>(node);
  o.scale = {float_bits(edge.step)};
  o.zero_point = {0};
  o.rounding = fb::Rounding::HALF_AWAY;  // MRT's
  graph->nodes.insert(graph->nodes.begin(), std::move(node));
  graph->inputs[0] = x;
}

void add_float_output(const CvmModel::Edge& edge, convert::ValueId* output, convert::Graph* graph) {
  const convert::ValueId y = real_of(edge, *output, graph);
  convert::Node node =
      convert::make_node<fb::DequantizeOptionsT>(edge.name, "output", {*output}, {y});
  auto& o = convert::options<fb::DequantizeOptionsT>(node);
  o.scale = {float_bits(edge.step)};
  o.zero_point = {0};
  graph->nodes.push_back(std::move(node));
  *output = y;
}

Status import_cvm(const CvmModel& cvm, convert::Graph* graph, convert::Report* report) {
  MemoryFile symbol, params;
  QRT_TRY(symbol.create(cvm.symbol));
  QRT_TRY(params.create(cvm.params));
  QRT_TRY(convert::import_cvm(symbol.path(), params.path(), graph, report));
  add_float_input(cvm.input, graph);
  for (size_t i = 0; i < cvm.outputs.size(); ++i)
    add_float_output(cvm.outputs[i], &graph->outputs[i], graph);
  return {};
}

// Imports a document. `file` holds an ONNX document, whose size limits what the converter may do,
// also after the import.
Status import_document(const Document& document, const Arithmetic& arithmetic, MemoryFile* file,
                       convert::Graph* graph, convert::Report* report) {
  if (document.qdq.empty()) return import_cvm(document.cvm, graph, report);
  QRT_TRY(file->create(document.qdq));
  return import_qdq(*file, arithmetic, graph, report);
}

template <class From, class To>
std::vector<To> converted(const uint8_t* data, size_t n) {
  std::vector<From> from(n);
  memcpy(from.data(), data, n * sizeof(From));
  return std::vector<To>(from.begin(), from.end());
}

bool store(const Tensor& t, DType type, size_t bytes, uint8_t* data) {
  const auto put = [&](const auto& values) {
    const size_t n = values.size() * sizeof(values[0]);
    if (n == bytes) memcpy(data, values.data(), n);
    return n == bytes;
  };
  const auto& v = t.integers;
  switch (type) {
    case DType::kFloat32: return put(t.reals);
    case DType::kInt64: return put(v);
    case DType::kInt32: return put(std::vector<int32_t>(v.begin(), v.end()));
    case DType::kInt8: return put(std::vector<int8_t>(v.begin(), v.end()));
    case DType::kUInt8:
    case DType::kBool: return put(std::vector<uint8_t>(v.begin(), v.end()));
    default: return false;
  }
}

bool load(DType type, size_t n, const uint8_t* data, Tensor* t) {
  switch (type) {
    case DType::kFloat32: t->reals = converted<float, float>(data, n); return true;
    case DType::kInt64: t->integers = converted<int64_t, int64_t>(data, n); break;
    case DType::kInt32: t->integers = converted<int32_t, int64_t>(data, n); break;
    case DType::kInt8: t->integers = converted<int8_t, int64_t>(data, n); break;
    case DType::kUInt8:
    case DType::kBool: t->integers = converted<uint8_t, int64_t>(data, n); break;
    default: return false;
  }
  t->element = Element::kInt64;
  return true;
}

}  // namespace

Status judge_document(const Document& document, const Arithmetic& arithmetic,
                      convert::Report* report) {
  MemoryFile file;
  convert::Graph graph;
  *report = convert::Report();
  Status status = import_document(document, arithmetic, &file, &graph, report);
  // Refusals are in the report.
  return report->has_refusals() ? Status() : std::move(status);
}

Status convert_document(const Document& document, const Arithmetic& arithmetic,
                        const std::map<std::string, std::string>& notes, Conversion* conversion) {
  *conversion = Conversion();
  MemoryFile file;
  convert::Graph graph;
  QRT_TRY(import_document(document, arithmetic, &file, &graph, &conversion->report));
  graph.source_producer = "qrt_quantize";
  QRT_TRY(convert::run_passes(&graph, nullptr));
  return convert::write_model(graph, &conversion->bytes, {nullptr, notes});
}

Status IntegerRunner::create(const std::vector<uint8_t>& bytes, size_t threads) {
  Result<ModelBytes> copy = ModelBytes::copy(bytes.data(), bytes.size());
  if (!copy.ok()) return std::move(copy.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = verify(std::move(*copy));
  if (!verified.ok()) return std::move(verified.status());
  model_ = *verified;
  SessionOptions options;
  options.threads = threads;
  Result<std::unique_ptr<Session>> session = Session::create(model_, options);
  if (!session.ok()) return std::move(session.status());
  session_ = std::move(*session);
  sizes_ = default_sizes(model_->file());
  return {};
}

// Sets the session to the sizes of the feeds' open dimensions besides the batch.
Status IntegerRunner::set_sizes(const Values& feeds) {
  const fb::Model& file = model_->file();
  SymbolSizes sizes = default_sizes(file);
  for (const uint32_t slot : *file.inputs()) {
    const fb::Tensor& t = model_->tensor(slot);
    const auto feed = feeds.find(t.name()->str());
    if (feed == feeds.end() || t.sizes() == nullptr) continue;
    const Dims& shape = feed->second.shape;
    for (uint32_t d = 0; d < t.sizes()->size() && d < shape.size(); ++d)
      if (const int64_t symbol = symbol_of(*t.sizes()->Get(d)); symbol >= 0)
        sizes[static_cast<size_t>(symbol)] = shape[d];
  }
  if (sizes == sizes_) return {};
  Result<std::shared_ptr<const Plan>> plan =
      session_->plan_at({static_cast<size_t>(file.default_batch()), sizes});
  if (!plan.ok()) return std::move(plan.status());
  QRT_TRY(session_->reshape(std::move(*plan)));
  sizes_ = sizes;
  return {};
}

Status IntegerRunner::run(const Values& feeds, Values* outputs) {
  QRT_TRY(set_sizes(feeds));
  const Plan& plan = session_->plan();
  const fb::Model& file = model_->file();
  for (const uint32_t slot : *file.inputs()) {
    const fb::Tensor& t = model_->tensor(slot);
    const auto feed = feeds.find(t.name()->str());
    if (feed == feeds.end() || !store(feed->second, static_cast<DType>(t.dtype()),
                                      plan.slot_bytes(slot), session_->data(slot)))
      return error(Code::kInternal, "the integer model's input '%s' is not that of the float model",
                   t.name()->c_str());
  }
  QRT_TRY(session_->run());
  outputs->clear();
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const uint32_t slot = plan.outputs[i].slot;
    const std::string name = model_->tensor(file.outputs()->Get(i)).name()->str();
    Tensor y;
    const Shape& shape = plan.types[slot].shape;
    y.shape.assign(shape.begin(), shape.end());
    if (!load(plan.types[slot].dtype, static_cast<size_t>(shape.elements()), session_->data(slot),
              &y))
      return error(Code::kInternal, "the integer model's output '%s' is of another type",
                   name.c_str());
    (*outputs)[name] = std::move(y);
  }
  return {};
}

}  // namespace qrt::quantize
