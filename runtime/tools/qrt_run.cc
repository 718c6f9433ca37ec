// qrt_run: a .qrt model on .npy inputs; outputs as .npy files, or their shapes and digests. Inputs
// with one more dimension in front are a sequence: one run for each of its indices, in one session.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "qrt/qrt.hpp"
#include "runtime/model_bytes.h"
#include "runtime/tensor.h"
#include "runtime/text.h"
#include "runtime/tools/files.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/options.h"
#include "runtime/tools/source_order.h"
#include "runtime/tools/terminal.h"
#include "runtime/tools/test_values.h"
#include "runtime/verify.h"

namespace qrt {
namespace {

struct Options {
  std::string model, output_dir, isa, kernels;
  std::vector<std::string> files, named;
  size_t threads = 1, max_memory = 0;
  bool dump_all = false, check = false;
};

DType dtype_of(const qrt_tensor_info& info) { return static_cast<DType>(info.dtype); }

Shape shape_of(const qrt_tensor_info& info) {
  Shape shape;
  for (int i = 0; i < info.rank; ++i) shape.push_back(info.dims[i]);
  return shape;
}

// "input 0 'data' (float32 [-1, 3, 224, 224])"
std::string describe_input(const Model& model, size_t i) {
  const qrt_tensor_info info = model.input_info(i);
  return "input " + std::to_string(i) + " '" + info.name + "' (" + qrt_dtype_name(info.dtype) +
         " " + shape_of(info).to_string() + ")";
}

// One file for every input: --input NAME=FILE first, the others in order.
Status assign_files(const Model& model, const Options& options, std::vector<std::string>* files) {
  files->assign(model.input_count(), "");
  for (const std::string& text : options.named) {
    // A name may hold '=', a file too: the longest input name that fits wins.
    size_t best = model.input_count(), best_length = 0;
    for (size_t i = 0; i < model.input_count(); ++i) {
      const std::string name = model.input_info(i).name;
      if (text.compare(0, name.size() + 1, name + "=") == 0 && name.size() >= best_length) {
        best = i;
        best_length = name.size();
      }
    }
    if (best == model.input_count())
      return error(Code::kInvalidArgument, "--input %s: no input of the model has this name",
                   text.c_str());
    if (!(*files)[best].empty())
      return error(Code::kInvalidArgument, "--input %s: given twice", text.c_str());
    (*files)[best] = text.substr(best_length + 1);
  }
  size_t next = 0;
  for (size_t i = 0; i < files->size(); ++i) {
    if (!(*files)[i].empty()) continue;
    if (next == options.files.size())
      return error(Code::kInvalidArgument, "no file for %s", describe_input(model, i).c_str());
    (*files)[i] = options.files[next++];
  }
  if (next != options.files.size())
    return error(Code::kInvalidArgument, "%zu input files are left over, the model has %zu inputs",
                 options.files.size() - next, model.input_count());
  return {};
}

// Whether an array fits an input, or one input for each index of a dimension in front: *is_sequence
// then. Where the model leaves the batch open, the array says it.
Status check_input(const Model& model, size_t i, const tool::NpyArray& array, size_t* batch,
                   bool* is_sequence) {
  const qrt_tensor_info info = model.input_info(i);
  *is_sequence = array.shape.rank() == info.rank + 1 && array.shape[0] >= 1;
  bool fits = array.dtype == tool::npy_dtype(dtype_of(info)) &&
              (*is_sequence || array.shape.rank() == info.rank);
  for (int d = 0; fits && d < info.rank; ++d) {
    const int64_t n = array.shape[d + (*is_sequence ? 1 : 0)];
    if (info.dims[d] >= 0)
      fits = n == info.dims[d];
    else if (n < 1)
      return error(Code::kInvalidModel, "it has a batch of %lld, expected 1 or more",
                   static_cast<long long>(n));
    else if (*batch != 0 && static_cast<size_t>(n) != *batch)
      return error(Code::kInvalidModel, "it has a batch of %lld, other inputs have %zu",
                   static_cast<long long>(n), *batch);
    else
      *batch = static_cast<size_t>(n);
  }
  if (fits) return {};
  return error(Code::kInvalidModel, "it holds %s %s, expected %s", dtype_name(array.dtype),
               array.shape.to_string().c_str(), describe_input(model, i).c_str());
}

// 64-bit FNV-1a.
uint64_t digest(const void* data, size_t bytes) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i)
    h = (h ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  return h;
}

void print_digest(const std::string& label, const qrt_tensor_info& info, const void* data) {
  printf("%s '%s' %s %s fnv1a:%016llx\n", label.c_str(), escaped(info.name).c_str(),
         qrt_dtype_name(info.dtype), shape_of(info).to_string().c_str(),
         static_cast<unsigned long long>(digest(data, info.bytes)));
}

// Letters, digits and "._-" of a tensor's name, for a file's name.
std::string file_part(const char* name) {
  std::string s;
  for (; *name != '\0' && s.size() < 100; ++name)
    s += isalnum(static_cast<unsigned char>(*name)) || strchr("._-", *name) ? *name : '_';
  return s;
}

// With --output-dir as DIR/`stem`.npy, else a line on stdout.
Status deliver(const Options& options, const std::string& stem, const qrt_tensor_info& info,
               const void* data) {
  if (options.output_dir.empty()) {
    print_digest(stem, info, data);
    return {};
  }
  return tool::write_npy(options.output_dir + "/" + stem + ".npy", dtype_of(info), shape_of(info),
                         data, info.bytes);
}

// The outputs of all runs of a sequence.
using Runs = std::vector<std::vector<uint8_t>>;

Status keep_outputs(const Session& session, Runs* runs) {
  for (size_t i = 0; i < runs->size(); ++i) {
    const qrt_tensor_info info = session.output_info(i);
    if (info.rank == QRT_MAX_RANK || is_packed(dtype_of(info)))
      return error(Code::kUnsupported,
                   "output %zu '%s' has 6 dimensions or packed elements, which a sequence cannot "
                   "have",
                   i, info.name);
    const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session.get(), i));
    (*runs)[i].insert((*runs)[i].end(), data, data + info.bytes);
  }
  return {};
}

// Output i of a sequence: its runs stand along a dimension in front.
Status deliver_runs(const Options& options, const Session& session, const Runs& runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    qrt_tensor_info info = session.output_info(i);
    const size_t steps = runs[i].size() / info.bytes;
    for (int d = info.rank++; d > 0; --d) info.dims[d] = info.dims[d - 1];
    info.dims[0] = static_cast<int64_t>(steps);
    info.bytes = runs[i].size();
    QRT_TRY(deliver(options, "output_" + std::to_string(i), info, runs[i].data()));
  }
  return {};
}

Status deliver_outputs(const Options& options, const Session& session, size_t outputs) {
  for (size_t i = 0; i < outputs; ++i)
    QRT_TRY(deliver(options, "output_" + std::to_string(i), session.output_info(i),
                    qrt_session_output_data(session.get(), i)));
  return {};
}

// The dimensions of a tensor in the source's order, and its elements so ordered. Packed elements
// stay as they are: *order becomes empty.
std::vector<uint8_t> in_source_order(const void* data, tool::Order* order, qrt_tensor_info* info) {
  const auto* from = static_cast<const uint8_t*>(data);
  const size_t element = qrt_dtype_size(info->dtype);
  if (element == 0) order->clear();
  std::vector<uint8_t> result(from, from + info->bytes);
  if (order->empty()) return result;
  const qrt_tensor_info old = *info;
  size_t stride[QRT_MAX_RANK], step = element;  // bytes, of the source's dimensions
  for (int d = old.rank; d-- > 0; step *= static_cast<size_t>(old.dims[d]))
    for (int i = 0; i < old.rank; ++i)
      if ((*order)[static_cast<size_t>(i)] == d) {
        stride[i] = step;
        info->dims[i] = old.dims[d];
      }
  int64_t at[QRT_MAX_RANK] = {};
  size_t offset = 0;
  for (size_t to = 0; to < info->bytes; to += element) {
    memcpy(&result[to], from + offset, element);
    for (int i = info->rank; i-- > 0;) {
      offset += stride[i];
      if (++at[i] < info->dims[i]) break;
      offset -= stride[i] * static_cast<size_t>(at[i]);
      at[i] = 0;
    }
  }
  return result;
}

// As they are after the last run, under the names and in the order of dimensions that they have in
// the source model; with --output-dir a list of them, tensors.json.
Status deliver_tensors(const Options& options, const Session& session) {
  auto bytes = ModelBytes::map_file(options.model.c_str());
  QRT_TRY(std::move(bytes.status()).at(options.model));
  auto model = verify(std::move(*bytes));
  QRT_TRY(std::move(model.status()).at(options.model));
  const fb::Model& file = (*model)->file();
  const std::vector<tool::Order> orders = tool::source_orders(file);
  const std::vector<std::string> names = tool::source_names(file);
  auto list = nlohmann::ordered_json::array();
  size_t i = 0;  // of the tensors that operators write, in their order
  for (const fb::Operator* op : *file.operators())
    for (const uint32_t tensor : *op->outputs()) {
      qrt_tensor_info info{};
      const void* data = nullptr;
      if (qrt_session_tensor(session.get(), i, &info, &data) != QRT_OK)
        return error(Code::kInternal, "operator outputs and tensors of the session differ");
      tool::Order order = orders[tensor];
      const std::vector<uint8_t> elements = in_source_order(data, &order, &info);
      info.name = names[tensor].c_str();
      char number[32];
      snprintf(number, sizeof number, "tensor_%04zu", i++);
      const std::string part = file_part(info.name);
      const std::string stem =
          options.output_dir.empty() || part.empty() ? number : number + ("_" + part);
      QRT_TRY(deliver(options, stem, info, elements.data()));
      list.push_back({{"file", stem + ".npy"},
                      {"name", info.name},
                      {"node", op->name() != nullptr ? op->name()->str() : ""},
                      {"source_op", op->source_op() != nullptr ? op->source_op()->str() : ""},
                      {"operator", fb::EnumNameOpOptions(op->options_type())},
                      {"dtype", qrt_dtype_name(info.dtype)},
                      {"shape", std::vector<int64_t>(info.dims, info.dims + info.rank)},
                      {"order", std::vector<int>(order.begin(), order.end())}});
    }
  if (options.output_dir.empty()) return {};
  const std::string text =
      list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return tool::write_file(options.output_dir + "/tensors.json", text.data(), text.size());
}

// Index `step` of a sequence of `steps`.
tool::NpyArray part_of(const tool::NpyArray& array, size_t step, size_t steps) {
  tool::NpyArray part;
  part.dtype = array.dtype;
  for (int d = 1; d < array.shape.rank(); ++d) part.shape.push_back(array.shape[d]);
  const size_t bytes = array.data.size() / steps;
  const auto begin = array.data.begin() + static_cast<ptrdiff_t>(step * bytes);
  part.data.assign(begin, begin + static_cast<ptrdiff_t>(bytes));
  return part;
}

SessionOptions session_options_of(const Options& options) {
  SessionOptions session;
  session.threads = options.threads;
  session.isa = options.isa.empty() ? nullptr : options.isa.c_str();
  session.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
  session.keep_all = options.dump_all;
  session.max_memory = options.max_memory;
  return session;
}

Status run_model(const Options& options) {
  QRT_TRY(tool::check_readable(options.model));
  const Model model = Model::load_file(options.model);
  std::vector<std::string> files;
  QRT_TRY(assign_files(model, options, &files));
  std::vector<tool::NpyArray> arrays(files.size());
  SessionOptions session_options = session_options_of(options);
  size_t steps = 0;  // 0: no sequence
  for (size_t i = 0; i < files.size(); ++i) {
    bool is_sequence;
    QRT_TRY(tool::read_npy(files[i], &arrays[i]));
    QRT_TRY(check_input(model, i, arrays[i], &session_options.batch, &is_sequence).at(files[i]));
    const size_t length = is_sequence ? static_cast<size_t>(arrays[i].shape[0]) : 0;
    if (i > 0 && length != steps)
      return error(Code::kInvalidModel, "%s: inputs of %zu and of %zu runs (0: no sequence)",
                   files[i].c_str(), steps, length);
    steps = length;
  }
  Session session(model, session_options);
  Runs runs(steps > 0 ? model.output_count() : 0);
  for (size_t step = 0; step < std::max(steps, size_t{1}); ++step) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      tool::NpyArray array = steps > 0 ? part_of(arrays[i], step, steps) : std::move(arrays[i]);
      QRT_TRY(tool::from_npy_form(dtype_of(model.input_info(i)), &array).at(files[i]));
      session.set_input(i, array.data.data(), array.data.size());
    }
    session.run();
    QRT_TRY(keep_outputs(session, &runs));
  }
  if (!options.output_dir.empty() && mkdir(options.output_dir.c_str(), 0777) != 0 &&
      errno != EEXIST)
    return error(Code::kIoError, "%s: %s", options.output_dir.c_str(), strerror(errno));
  QRT_TRY(steps > 0 ? deliver_runs(options, session, runs)
                    : deliver_outputs(options, session, model.output_count()));
  return options.dump_all ? deliver_tensors(options, session) : Status();
}

// Runs the values that the file holds to test it with; a line for each output.
Status check_model(const Options& options, bool* equal) {
  QRT_TRY(tool::check_readable(options.model));
  auto bytes = ModelBytes::map_file(options.model.c_str());
  QRT_TRY(std::move(bytes.status()).at(options.model));
  auto verified = verify(std::move(*bytes));
  QRT_TRY(std::move(verified.status()).at(options.model));
  const fb::Model& file = (*verified)->file();
  tool::TestBuffers tests;
  QRT_TRY(tool::find_test_buffers(file, &tests).at(options.model));
  const Model model = Model::load_file(options.model);
  Session session(model, session_options_of(options));
  const auto values = [&](uint32_t buffer, const qrt_tensor_info& info,
                          const uint8_t** data) -> Status {
    const auto* found = file.buffers()->Get(buffer)->data();
    const size_t size = found == nullptr ? 0 : found->size();
    *data = found == nullptr ? nullptr : found->data();
    if (size == info.bytes) return {};
    return error(Code::kInvalidModel, "%s: %zu bytes of test values for '%s', which takes %zu",
                 options.model.c_str(), size, info.name, info.bytes);
  };
  const uint8_t* data;
  for (size_t i = 0; i < tests.inputs.size(); ++i) {
    const qrt_tensor_info info = session.input_info(i);
    QRT_TRY(values(tests.inputs[i], info, &data));
    session.set_input(i, data, info.bytes);
  }
  session.run();
  *equal = true;
  for (size_t i = 0; i < tests.outputs.size(); ++i) {
    const qrt_tensor_info info = session.output_info(i);
    QRT_TRY(values(tests.outputs[i], info, &data));
    const tool::Difference d =
        tool::compare(dtype_of(info), qrt_session_output_data(session.get(), i), data, info.bytes);
    printf("check output %zu '%s': ", i, escaped(info.name).c_str());
    if (d.different == 0)
      printf("all %zu equal\n", d.elements);
    else
      printf("%zu of %zu differ, the first at %zu: %s, expected %s\n", d.different, d.elements,
             d.first, d.got.c_str(), d.expected.c_str());
    *equal &= d.different == 0;
  }
  return {};
}

int run_main(int argc, char** argv) {
  tool::CommandLine line(
      "Runs a .qrt model once, or once for each index of one more dimension in front of its "
      "inputs.",
      "  qrt_run model.qrt image.npy                     shapes and digests of the outputs\n"
      "  qrt_run model.qrt image.npy --output-dir out    writes out/output_0.npy ...\n"
      "  qrt_run model.qrt --input data=image.npy --isa scalar --threads 2");
  Options options;
  line.argument("MODEL", &options.model, "A .qrt file");
  line.arguments("INPUTS", &options.files, "Inputs as .npy files, in the model's order");
  line.texts("--input", &options.named, "NAME=FILE.npy, an input by name; may be repeated");
  line.text("--output-dir", &options.output_dir, "Directory for the outputs, made if missing");
  line.flag("--dump-all", &options.dump_all,
            "Every tensor that an operator writes, too, in the source model's order of dimensions");
  line.flag(
      "--check", &options.check,
      "Run the test values that the model holds (qrt_convert --keep-test-values) and compare; "
      "exit status 1 if a byte differs");
  line.text("--isa", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line.text("--kernels", &options.kernels,
            "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  line.number("--threads", &options.threads, 1, 1024, "Threads");
  line.number("--max-memory", &options.max_memory, 1, SIZE_MAX,
              "Bytes that the session may take (default: 2 GiB and 64 times the file, an image)");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  if (options.check) {
    if (!options.files.empty() || !options.named.empty() || !options.output_dir.empty() ||
        options.dump_all) {
      tool::complain("--check takes its inputs from the model and writes no files (see --help)");
      return tool::kUsage;
    }
    bool equal = false;
    const Status status = check_model(options, &equal);
    if (!status.ok()) return tool::fail(status);
    return equal ? tool::kDone : tool::kCheckFailed;
  }
  const Status status = run_model(options);
  return status.ok() ? tool::kDone : tool::fail(status);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::run_main, argc, argv); }
