// SPDX-License-Identifier: Apache-2.0
// qrt_run: a .qrt model on .npy or .npz files or pictures; outputs as .npy files, or what a user asks to see
// of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "qrt/qrt.hpp"
#include "runtime/platform/tools.h"
#include "runtime/tools/file_kind.h"
#include "runtime/tools/files.h"
#include "runtime/tools/images/picture_inputs.h"
#include "runtime/tools/inputs.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/run/dump.h"
#include "runtime/tools/run/options.h"
#include "runtime/tools/run/outputs.h"
#include "runtime/tools/run/self_check.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

constexpr size_t kMostShown = 1000000;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Times {
  double load = 0, session = 0;  // ms
  std::vector<double> runs;
};

void print_times(Times times) {
  printf("time load %.3f ms, session %.3f ms, first run %.3f ms", times.load, times.session,
         times.runs[0]);
  std::sort(times.runs.begin(), times.runs.end());
  if (times.runs.size() > 1)
    printf(", median of %zu %.3f ms", times.runs.size(), times.runs[times.runs.size() / 2]);
  puts("");
}

// Returns the code of a session that could not be made. Sizes of arrays that do not fit each other are wrong inputs, while
// sizes that --dims gives, or other options, are wrong usage.
Code session_code(const Model& model, const RunOptions& options, const Inputs& inputs,
                  const Outcome& failed) {
  const auto code = static_cast<Code>(failed.code());
  if (code != Code::kInvalidArgument || !options.dims.empty()) return code;
  SessionOptions sizes;
  Dims dims = inputs.dims();
  dims.put_in(&sizes);
  qrt_session_info info;
  const bool fits = Session::try_needed_memory(model, &info, sizes).ok();
  return fits ? code : Code::kInvalidModel;
}

Status run_model(const RunOptions& options, bool* equal) {
  QRT_TRY(check_model_file(options.model));
  std::vector<std::string> read = options.files;
  for (const auto* more : {&options.named, &options.images, &options.expected})
    read.insert(read.end(), more->begin(), more->end());
  read.push_back(options.model);
  QRT_TRY(check_outputs({options.output}, read));
  Times times;
  auto start = Clock::now();
  LoadOptions load_options;
  load_options.flags = QRT_LOAD_CHECK;
  const Model model = Model::load_file(options.model, load_options);
  times.load = ms_since(start);
  Inputs inputs;
  Dims dims;
  for (const std::string& text : options.dims) QRT_TRY(dims.parse(text));
  inputs.set_dims(std::move(dims));
  QRT_TRY(options.images.empty() ? inputs.read(model, options.files, options.named)
                                 : read_pictures(model, options.images, options.pictures, &inputs));
  SessionOptions session_options = options.session();
  dims = inputs.dims();
  dims.put_in(&session_options);
  session_options.keep_all = options.dump_all;
  start = Clock::now();
  Session session;
  if (const Outcome made = Session::try_create(model, &session, session_options); !made.ok())
    return error(session_code(model, options, inputs, made), "%s", made.message());
  times.session = ms_since(start);
  Outputs kept(model, inputs.steps() > 0);
  for (size_t step = 0; step < inputs.runs(); ++step) {
    QRT_TRY(inputs.put(step, &session));
    start = Clock::now();
    if (const Outcome ran = session.try_run(); !ran.ok()) {
      // A file holds an index outside its table.
      const bool is_input = ran.code() == QRT_OUT_OF_RANGE;
      return error(is_input ? Code::kInvalidModel : static_cast<Code>(ran.code()), "%s",
                   ran.message());
    }
    times.runs.push_back(ms_since(start));
    QRT_TRY(kept.keep(session));
  }
  if (!options.output_dir.empty() && !options.to_stdout())
    QRT_TRY(make_folders(options.output_dir));
  const std::vector<Output> outputs = kept.collect(session);
  std::vector<Expected> expected;
  QRT_TRY(read_expected(options, outputs, &expected));
  NpzWriter archive;
  QRT_TRY(deliver_outputs(options, outputs, &archive));
  if (options.dump_all) QRT_TRY(dump_tensors(options, model, session, &archive));
  if (!options.output.empty()) QRT_TRY(archive.write(options.output));
  if (options.time) print_times(times);
  *equal = compare_outputs(outputs, expected);
  return {};
}

// Arguments that are pictures by their content are taken as --image takes them.
void find_pictures(RunOptions* options) {
  std::vector<std::string> arrays;
  for (const std::string& file : options->files) {
    std::vector<uint8_t> head;
    const bool is_read = check_readable(file).ok() && read_head(file, kKindBytes, &head).ok();
    const FileKind* kind = is_read ? find_kind(head, file) : nullptr;
    const bool is_picture = kind != nullptr && kind->use == FileUse::kPicture;
    (is_picture ? options->images : arrays).push_back(file);
  }
  options->files = std::move(arrays);
}

// Returns which options cannot be given together, "" if none.
std::string contradiction(const RunOptions& options) {
  const bool has_files = !options.files.empty() || !options.named.empty();
  const bool shows = options.print > 0 || options.top > 0 || options.sha256 || options.time ||
                     !options.expected.empty();
  if (options.check &&
      (has_files || !options.dims.empty() || !options.images.empty() ||
       !options.output_dir.empty() || !options.output.empty() || options.dump_all || shows))
    return "--check takes its inputs from the model and writes no files";
  const auto is_stdin = [](const std::string& text) {
    return text == "-" || (text.size() > 2 && text.compare(text.size() - 2, 2, "=-") == 0);
  };
  if (std::count_if(options.files.begin(), options.files.end(), is_stdin) +
          std::count_if(options.named.begin(), options.named.end(), is_stdin) +
          (options.model == "-" ? 1 : 0) >
      1)
    return "one file can come from standard input, not two";
  if (options.to_stdout() && (options.dump_all || shows))
    return "--output-dir - writes arrays to standard output and nothing else";
  if (!options.output.empty() && !options.output_dir.empty())
    return "outputs go either into a file, by --output, or into a folder, by --output-dir";
  if (!options.output.empty() && !has_extension(options.output, ".npz"))
    return "--output " + options.output + ": expected a name that ends in .npz";
  if (options.expect_some && options.expected.empty()) return "--expect-some needs --expect";
  if (!options.labels.empty() && options.top == 0) return "--labels needs --top";
  if (options.dequantize && options.top == 0 && options.print == 0)
    return "--dequantize needs --print or --top";
  if (!options.images.empty() && has_files) return "inputs are either arrays or pictures";
  if (options.images.empty() && options.pictures.any())
    return "--mean, --std, --scale, --resize, --crop, --layout, --rgb and --bgr are for pictures: "
           "give "
           "one by --image";
  return "";
}

int run_main(int argc, char** argv) {
  CommandLine line(
      "Runs a .qrt model once, or once for each index of one more dimension in front of its "
      "inputs.",
      "  qrt_run model.qrt image.npy                   digests of the outputs\n"
      "  qrt_run model.qrt image.npy -o out.npz        outputs by their names\n"
      "  qrt_run model.qrt image.npy --output-dir out  writes out/output_0.npy ...\n"
      "  qrt_run model.qrt inputs.npz                  arrays by the inputs' names\n"
      "  qrt_run model.qrt --input data=image.npy --isa scalar --threads 2\n"
      "  qrt_run model.qrt cat.jpg --mean 0.485,0.456,0.406 \\\n"
      "      --std 0.229,0.224,0.225 --top 5 --labels labels.txt\n"
      "  qrt_run model.qrt image.npy --expect ref.npy  status 1 if a bit differs\n"
      "  qrt_run model.qrt - --output-dir - <x.npy >y.npy\n"
      "  qrt_run model.qrt --check                     needs no other file");
  RunOptions options;
  line.argument("MODEL", &options.model, "A .qrt file; - is standard input");
  line.arguments(
      "INPUT", &options.files,
      "Inputs as .npy files, in the model's order, or .npz, by their names, or a picture; - is "
      "standard input");
  line.texts("--input FILE", &options.named,
             "NAME=FILE.npy or .npz, an input by name; may be repeated");
  line.texts("--image FILE", &options.images,
             "Picture as the model's input (PNG, JPEG, BMP, WebP, PPM or PGM); repeated: a batch");
  line.text("-o,--output FILE", &options.output, "The outputs as one .npz file, by their names");
  line.text(
      "--output-dir DIR", &options.output_dir,
      "Folder for the outputs, made where it is missing; - writes them to standard output, one "
      "array after the other");
  line.texts(
      "--expect FILE", &options.expected,
      "[NAME=]FILE.npy or .npz, what an output must be, bit for bit, in the model's order or "
      "by name; exit status 1 if it is not, 2 if an array is for no output or an output has "
      "none; may be repeated");
  line.flag("--expect-some", &options.expect_some,
            "--expect may leave outputs out, and its files may hold more than outputs");
  line.number("--print COUNT", &options.print, 1, kMostShown,
              "The first COUNT elements of each output");
  line.number("--top COUNT", &options.top, 1, kMostShown,
              "The COUNT greatest elements of each output, of each row of its last dimension");
  line.flag("--dequantize", &options.dequantize,
            "--print and --top show the real numbers that quantised outputs stand for");
  line.text("--labels FILE", &options.labels, "Text file with a line per class, for --top");
  line.flag("--sha256", &options.sha256, "Digests by SHA-256, of files that are written too");
  line.flag(
      "--time", &options.time,
      "Time of loading, of preparing and of the run, which is the first (qrt_bench measures)");
  line.flag("--dump-all", &options.dump_all,
            "Every tensor that an operator writes, too, in the source model's order of "
            "dimensions; with --output-dir a list of them, index.json (for qrt_diff)");
  line.flag("--check", &options.check,
            "Run the test values that the model holds (qrt_convert --digests, "
            "--keep-test-values) and compare outputs and operators; exit status 1 if a byte "
            "differs");
  line.texts(
      "--dims SIZES", &options.dims,
      "NAME=SIZE, sizes of open dimensions, where the inputs do not tell them; may be repeated");
  line.text("--isa NAME", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line.text("--kernels NAME", &options.kernels,
            "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  line.number("--threads COUNT", &options.threads, 1, 1024, "Threads");
  line.number("--max-memory BYTES", &options.max_memory, 1, SIZE_MAX,
              "Bytes that the session may take (default: 2 GiB and 64 times the file, an image)");
  options.pictures.add_to(&line);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  find_pictures(&options);
  if (const std::string wrong = contradiction(options); !wrong.empty()) return refuse_usage(wrong);
  if (const Status read = take_stdin(&options.model); !read.ok()) return fail(read);
  bool equal = true;
  const Status status = options.check ? self_check(options, &equal) : run_model(options, &equal);
  if (!status.ok()) return fail(status);
  return equal ? kDone : kCheckFailed;
}

}  // namespace
}  // namespace qrt::tool

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::tool::run_main, argc, argv); }
