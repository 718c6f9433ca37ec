// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "converter/doctor/diagnosis.h"
#include "runtime/text.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/terminal.h"

namespace qrt::doctor {
namespace {

constexpr size_t kMostLines = 24, kColumn = 11;
constexpr size_t kMostTensors = 2, kMostReasons = 3, kMostRows = 3;

class Screen {
 public:
  explicit Screen(size_t width) : width_(width) {}

  // Adds a line, or up to kMostRows of them where the text is long. Names from a file may be cut to make room.
  void add(const std::string& key, const std::string& text) {
    std::istringstream words(escaped(text));
    std::vector<std::string> rows(1);
    for (std::string word; words >> word;) {
      if (!rows.back().empty() && kColumn + rows.back().size() + 1 + word.size() > width_)
        rows.emplace_back();
      rows.back() += (rows.back().empty() ? "" : " ") + word;
    }
    for (size_t i = 0; i < rows.size() && i < kMostRows; ++i) {
      const bool is_cut = i + 1 == kMostRows && rows.size() > kMostRows;
      line(i == 0 ? key : "", rows[i] + (is_cut ? " ..." : ""));
    }
  }
  // Adds a command, which is not wrapped: it is to be copied.
  void add_command(const std::string& key, const std::string& text) { append(key, escaped(text)); }

  std::string text() const { return text_; }

 private:
  void line(const std::string& key, const std::string& text) {
    const std::string room = tool::fitted(text, width_ - kColumn);
    append(key, room.substr(0, room.find_last_not_of(' ') + 1));
  }
  void append(const std::string& key, const std::string& text) {
    if (++lines_ > kMostLines) return;
    text_ += key + std::string(kColumn - key.size(), ' ') + text + "\n";
  }

  size_t width_, lines_ = 0;
  std::string text_;
};

std::string size_text(uint64_t bytes) {
  char text[32];
  const double n = static_cast<double>(bytes);
  if (bytes < 1000)
    snprintf(text, sizeof text, "%.0f bytes", n);
  else if (bytes < 1000000)
    snprintf(text, sizeof text, "%.1f kB", n / 1e3);
  else
    snprintf(text, sizeof text, "%.1f MB", n / 1e6);
  return text;
}

std::string short_list(const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < kMostTensors; ++i) text += (i > 0 ? ", " : "") + all[i];
  if (all.size() > kMostTensors)
    text += " and " + std::to_string(all.size() - kMostTensors) + " more";
  return text.empty() ? "nothing" : text;
}

std::string verdict(const Diagnosis& d) {
  if (d.is_qrt) return "is converted: " + tool::counted(d.nodes, "operator");
  if (!d.converts && d.refused > 0)
    return "no: " + std::to_string(d.refused) + " of " + tool::counted(d.nodes, "node") +
           (d.refused == 1 ? " is refused" : " are refused") +
           (d.unknown > 0 ? ", " + std::to_string(d.unknown) + " behind them not assessed" : "");
  if (!d.converts) return "no: " + d.problem;
  std::string options;
  for (const std::string& option : d.given) options += " " + option;
  return "yes" + (options.empty() ? "" : ", with" + options) + ": " +
         tool::counted(d.nodes, "node") + ", batch " + d.batch;
}

std::string levels_text(const Diagnosis& d) {
  size_t all = 0;
  std::string text;
  for (const auto& [level, count] : d.levels) {
    all += count;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + level;
  }
  return tool::counted(all, "operator") + ": " + text;
}

std::string float_text(const Diagnosis& d) {
  size_t all = 0, listed = 0;
  std::string kinds;
  for (const auto& [kind, count] : d.in_float) {
    all += count;
    if (++listed <= 6) kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  }
  if (all == 0) return "nothing: integers from edge to edge";
  return (d.is_wholly_float ? "all: nothing is quantised: "
                            : tool::counted(all, "operator") + ": ") +
         kinds + (listed > 6 ? " ..." : "");
}

std::string speed_text(const Diagnosis& d) {
  if (!d.speed_problem.empty()) return "not measured: " + d.speed_problem;
  if (d.ms == 0) return "not measured";
  char text[96];
  const double rate = 1e3 / d.ms;
  snprintf(text, sizeof text,
           rate >= 100 ? "%.3g ms a run, %.0f a second (%s; qrt_bench measures)"
                       : "%.3g ms a run, %.2g a second (%s; qrt_bench measures)",
           d.ms, rate, d.isa.c_str());
  return text;
}

}  // namespace

std::string screen(const Diagnosis& d, size_t width) {
  Screen s(width);
  s.add("file", d.file + ", " + size_text(d.bytes));
  s.add("format", d.format + (d.producer.empty() ? "" : ", made by " + d.producer));
  s.add("converts", verdict(d));
  for (size_t i = 0; !d.converts && i < d.reasons.size() && i < kMostReasons; ++i) {
    const Reason& r = d.reasons[i];
    const std::string more = r.count > 1 ? " and " + std::to_string(r.count - 1) + " more" : "";
    s.add(i == 0 ? "refused" : "", r.node + " (" + r.op + ")" + more + ": " + r.rule);
  }
  if (d.reasons.size() > kMostReasons && !d.converts)
    s.add("", "and " + tool::counted(d.reasons.size() - kMostReasons, "other reason"));
  if (d.converts) {
    s.add("takes", short_list(d.inputs));
    s.add("gives", short_list(d.outputs));
    s.add("levels", levels_text(d));
    s.add("float", float_text(d));
    s.add("speed", speed_text(d));
  }
  for (size_t i = 0; i < d.next.size(); ++i) {
    const bool is_command = d.next[i].rfind("qrt_", 0) == 0;
    if (is_command)
      s.add_command(i == 0 ? "next" : "", d.next[i]);
    else
      s.add(i == 0 ? "next" : "", d.next[i]);
  }
  return s.text();
}

std::string json(const Diagnosis& d) {
  nlohmann::ordered_json root = {{"file", d.file},         {"bytes", d.bytes},
                                 {"format", d.format},     {"producer", d.producer},
                                 {"converts", d.converts}, {"options", d.given},
                                 {"problem", d.problem},   {"nodes", d.nodes},
                                 {"refused", d.refused},   {"not_assessed", d.unknown}};
  auto& reasons = root["reasons"] = nlohmann::ordered_json::array();
  for (const Reason& r : d.reasons)
    reasons.push_back({{"node", r.node},
                       {"op", r.op},
                       {"rule", r.rule},
                       {"remedy", r.remedy},
                       {"count", r.count}});
  root["inputs"] = d.inputs;
  root["outputs"] = d.outputs;
  root["levels"] = d.levels;
  root["float"] = d.in_float;
  root["is_wholly_float"] = d.is_wholly_float;
  if (d.ms > 0) root["speed"] = {{"ms", d.ms}, {"isa", d.isa}};
  root["next"] = d.next;
  return root.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace qrt::doctor
