// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "converter/command_line.h"
#include "converter/convert.h"
#include "converter/doctor/diagnosis.h"
#include "converter/levels.h"
#include "qrt/qrt.hpp"
#include "qrt_model_generated.h"
#include "runtime/tools/files.h"
#include "runtime/tools/level_name.h"
#include "runtime/tools/model_file.h"
#include "runtime/traits.h"

namespace qrt::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using convert::Finding;
using convert::Outcome;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string stem_of(const std::string& path) {
  const size_t dot = path.find_last_of("./");
  return dot != std::string::npos && dot > 0 && path[dot] == '.' ? path.substr(0, dot) : path;
}

// Returns a word as a shell takes it.
std::string quoted(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("._-/+:=@%").find(c) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Collects the refused nodes, as one reason where operator and remedy are equal.
void collect_reasons(const convert::Report& report, Diagnosis* d) {
  for (const Finding& f : report.findings()) {
    d->nodes += f.is_node;
    d->unknown += f.outcome == Outcome::kNotAssessed;
    if (f.outcome != Outcome::kRefused) continue;
    d->refused += f.is_node;
    const auto same = std::find_if(d->reasons.begin(), d->reasons.end(), [&](const Reason& r) {
      return r.op == f.op && (r.remedy == f.remedy || r.rule == f.rule);
    });
    if (same != d->reasons.end())
      ++same->count;
    else
      d->reasons.push_back({f.node, f.op, f.rule, f.remedy, 1});
  }
}

void count_operators(const std::vector<uint8_t>& file, Diagnosis* d) {
  for (const fb::Operator* op : *fb::GetModel(file.data())->operators()) {
    const std::string level = tool::level_name(arithmetic_level(*op));
    ++d->levels[level];
    if (level != "F") continue;
    const std::string source = op->source_op() != nullptr ? op->source_op()->str() : "";
    ++d->in_float[source.empty() ? fb::EnumNameOpOptions(op->options_type()) : source];
  }
}

bool is_for_pictures(const qrt_tensor_info& info) {
  if (info.rank != 4) return false;
  const auto is_colours = [](int64_t n) { return n == 1 || n == 3; };
  return is_colours(info.dims[1]) || is_colours(info.dims[3]);
}

// Values that any model takes: small real numbers, bytes of every kind, and zeros for indices.
void fill_inputs(Session* session, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const qrt_tensor_info info = session->input_info(i);
    std::vector<uint8_t> bytes(info.bytes);
    uint32_t state = 2463534242u;
    const auto next = [&] {  // xorshift32
      state ^= state << 13;
      state ^= state >> 17;
      return state ^= state << 5;
    };
    if (info.dtype == QRT_FLOAT32) {
      for (size_t b = 0; b + 4 <= bytes.size(); b += 4) {
        const float value = static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f;
        memcpy(&bytes[b], &value, 4);
      }
    } else if (info.dtype == QRT_UINT8 || info.dtype == QRT_INT8) {
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(next());
    }
    session->set_input_bytes(i, bytes.data(), bytes.size());
  }
}

// Ends what a session runs after some seconds, unless it goes out of scope before.
class TimeLimit {
 public:
  TimeLimit(Session* session, double seconds)
      : watch_([this, session, seconds] {
          std::unique_lock<std::mutex> lock(mutex_);
          const std::chrono::duration<double> time(seconds);
          if (!ended_.wait_for(lock, time, [this] { return has_ended_; })) session->cancel();
        }) {}
  ~TimeLimit() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_one();
    watch_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread watch_;  // begins last
};

// Measures the median time of a run, after one that counts for nothing. A small file may describe a run of hours and of
// gigabytes: what takes more than the file's size warrants is not measured.
Status measure(const Model& model, const Settings& settings, Diagnosis* d) {
  constexpr uint64_t kMemory = uint64_t{192} << 20, kMemoryPerByte = 12;
  // Time is up only between operators: the one that is running at its end is waited for.
  const double most_seconds = 0.2 + static_cast<double>(d->bytes) / 4e6;
  SessionOptions options;
  options.threads = settings.threads;
  options.max_memory = kMemory + kMemoryPerByte * d->bytes;
  Session session(model, options);
  fill_inputs(&session, model.input_count());
  try {
    const TimeLimit limit(&session, most_seconds);
    session.run();
  } catch (const Error& e) {
    if (e.status() != QRT_CANCELLED) throw;
    char text[80];
    snprintf(text, sizeof text, "a run takes longer than %.1f seconds (qrt_bench waits for it)",
             most_seconds);
    d->speed_problem = text;
    return {};
  }
  std::vector<double> times;
  for (const auto start = Clock::now(); times.empty() || seconds_since(start) < settings.seconds;) {
    const auto run = Clock::now();
    session.run();
    times.push_back(seconds_since(run) * 1e3);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2),
                   times.end());
  d->ms = times[times.size() / 2];
  d->isa = session.info().isa;
  return {};
}

Status look_at(const std::vector<uint8_t>& file, const Settings& settings, Diagnosis* d) {
  const Model model = Model::load_memory(file.data(), file.size());
  count_operators(file, d);
  for (size_t i = 0; i < model.input_count(); ++i) {
    const qrt_tensor_info info = model.input_info(i);
    d->inputs.push_back(std::string(info.name) + " " + tool::type_text(info));
    d->takes_pictures = model.input_count() == 1 && is_for_pictures(info);
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    const qrt_tensor_info info = model.output_info(i);
    d->outputs.push_back(std::string(info.name) + " " + tool::type_text(info));
  }
  if (settings.seconds <= 0) return {};
  try {
    return measure(model, settings, d);
  } catch (const Error& e) {
    d->speed_problem = e.what();
  }
  return {};
}

// Imports with the options that the diagnosis has so far.
Status import(const convert::Frontend& format, const std::string& path,
              const convert::ImportOptions& options, convert::Graph* graph,
              convert::Report* report) {
  QRT_TRY(convert::import_model(format, path, options, graph, report));
  return convert::run_passes(graph, nullptr);
}

// An option that some files need to be converted, with one of the values that it takes.
struct NeededOption {
  const char *name, *value;
};
constexpr NeededOption kNeededOptions[] = {
    {"--target", "esp32p4"}, {"--model", "0"}, {"--signature", "0"}};

void advise(const std::string& path, Diagnosis* d) {
  const std::string file = quoted(path), qrt = quoted(d->is_qrt ? path : stem_of(path) + ".qrt");
  const std::string input = d->takes_pictures ? "cat.jpg --top 5" : "input.npy";
  if (d->is_qrt && d->converts) {
    d->next = {"qrt_run " + qrt + " " + input, "qrt_bench " + qrt + " --profile"};
    return;
  }
  std::string given;
  for (const std::string& option : d->given) given += " " + option;
  const std::string converts = "qrt_convert " + file + given + " -o " + qrt;
  const bool is_onnx = d->format == "ONNX";
  const bool is_unquantised = d->problem.find("none is quantised") != std::string::npos;
  if (is_onnx && (d->is_wholly_float || is_unquantised)) {
    d->next.push_back("qrt_quantize " + file + " --calibration DIR -o " + qrt);
    d->next.push_back("with samples of what it will see in DIR: .npy files or pictures");
  } else if (d->is_wholly_float) {
    d->next.push_back("quantise it with " + d->format +
                      "'s own tools, which makes it smaller and faster");
  }
  if (d->converts) {
    d->next.push_back(converts);
    if (!d->is_wholly_float) d->next.push_back("qrt_run " + qrt + " " + input);
  } else if (!is_unquantised) {
    for (const Reason& r : d->reasons)
      if (!r.remedy.empty() && d->next.size() < 2) d->next.push_back(r.remedy);
    bool needs_option = false;
    for (const NeededOption& o : kNeededOptions) {
      if (!d->reasons.empty() || d->problem.find(o.name) == std::string::npos) continue;
      needs_option = true;
      d->next.push_back("qrt_convert " + file + " " + o.name + " " + o.value + " -o " + qrt);
      d->next.push_back("or with another of the values above: the one that is true of this file");
    }
    if (!needs_option) d->next.push_back("qrt_convert " + file + " --explain tells of every node");
  }
}

Status diagnose_source(const std::string& path, const Settings& settings, Diagnosis* d) {
  const convert::Frontend* format = nullptr;
  QRT_TRY(convert::FormatOptions().find_format(path, &format));
  d->format = format->title;
  convert::Graph graph;
  convert::Report report;
  Status status = import(*format, path, {}, &graph, &report);
  const bool may_be_float = std::any_of(
      format->options.begin(), format->options.end(),
      [](const convert::ImportOption& o) { return o.name == std::string("allow-float"); });
  if (status.code() == Code::kUnsupported && report.has_refusals() && may_be_float) {
    convert::Graph in_float;
    convert::Report again;
    if (import(*format, path, {{"allow-float", "on"}}, &in_float, &again).ok()) {
      status = Status();
      graph = std::move(in_float);
      report = again;
      d->given = {"--allow-float"};
    }
  }
  collect_reasons(report, d);
  std::vector<uint8_t> file;
  if (status.ok()) {
    d->is_wholly_float = convert::is_wholly_float(graph);
    d->producer = graph.source_producer;
    d->batch = graph.batch_is_open ? "any" : std::to_string(graph.default_batch);
    status = convert::write_model(graph, &file);
  }
  const bool is_refused = status.code() == Code::kUnsupported ||
                          status.code() == Code::kInvalidArgument;  // it lacks an option
  if (!status.ok() && !is_refused) return status;
  d->converts = status.ok();
  if (d->converts) return look_at(file, settings, d);
  d->problem = status.message();
  const std::string named = path + ": ";  // the diagnosis names the file itself
  if (d->problem.rfind(named, 0) == 0) d->problem.erase(0, named.size());
  return {};
}

Status diagnose_qrt(const std::string& path, const Settings& settings, Diagnosis* d) {
  auto verified = tool::load_verified(path);
  QRT_TRY(std::move(verified.status()));
  std::vector<uint8_t> file;
  QRT_TRY(tool::read_file(path, &file));
  const fb::Model& model = *fb::GetModel(file.data());
  const auto text = [](const flatbuffers::String* s) { return s != nullptr ? s->str() : ""; };
  d->format = "a .qrt model";
  d->is_qrt = d->converts = true;
  d->producer = text(model.source_producer());
  d->nodes = model.operators()->size();
  return look_at(file, settings, d);
}

}  // namespace

Status diagnose(const std::string& path, const Settings& settings, Diagnosis* d) {
  bool is_qrt = false;
  QRT_TRY(convert::look_for_qrt(path, &is_qrt));
  std::shared_ptr<FILE> file;
  size_t bytes = 0;
  QRT_TRY(tool::open_file(path, &file, &bytes));
  d->file = tool::with_stdin_named(path);
  d->bytes = bytes;
  QRT_TRY(is_qrt ? diagnose_qrt(path, settings, d) : diagnose_source(path, settings, d));
  advise(d->file == path ? path : "-", d);
  return {};
}

}  // namespace qrt::doctor
