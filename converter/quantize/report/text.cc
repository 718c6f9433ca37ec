// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "converter/quantize/report/format.h"
#include "converter/quantize/report/report.h"
#include "runtime/tools/counted.h"

namespace qrt::quantize {
namespace {

constexpr size_t kRows = 10;  // of the table of tensors: one screen
// Below these the integer model answers something else than the float model.
// Results that are no row of classes need a higher ratio, kLeastRatioOfReals, to be of use.
constexpr double kLeastAgreement = 0.8, kLeastRatio = 4, kLeastRatioOfReals = 10;
// Below, a result that is no row of classes is doubtful; so is one that fewer samples have judged.
constexpr double kDoubtfulRatio = 100;
constexpr size_t kFewSamples = 16;

std::string decibels(double ratio) {
  return std::isinf(ratio) || ratio <= 0 ? "exact" : format("%.1f dB", 10 * std::log10(ratio));
}

std::string row(const char* name, const Comparison& c) {
  if (c.samples() == 0) return format("  %-12s      -", name);
  std::string text = format("  %-12s %9s", name, decibels(c.ratio()).c_str());
  if (c.is_classes()) text += format("  agrees %6.2f %%", c.agreement() * 100);
  if (c.has_labels())
    text += format("  right %6.2f %% (float %.2f)", c.accuracy() * 100, c.float_accuracy() * 100);
  return text;
}

void add_set(const char* name, const Findings::Set& set, std::string* text) {
  *text += format("%s (%s, %zu simulated)\n", name,
                  tool::counted(set.all.samples(), "sample").c_str(), set.weights.samples());
  *text += row("weights", set.weights) + "\n" + row("activations", set.activations) + "\n" +
           row("all", set.all) + "\n";
  for (const auto& [output, c] : set.others) *text += row(("all, " + output).c_str(), c) + "\n";
}

// Shortens a long name, whose end says more than its start.
std::string short_name(const std::string& name, size_t most) {
  return name.size() <= most ? name : ".." + name.substr(name.size() - most + 2);
}

// Returns the signal to noise ratio of the worst output.
double least_ratio(const Findings::Set& set) {
  double least = set.all.ratio();
  for (const auto& [name, other] : set.others) least = std::min(least, other.ratio());
  return least;
}

std::string what_to_try(const Remedies& r) {
  return std::string(r.has_ladder ? "" : "--ladder fast, ") +
         (r.has_16_bits ? "--min-sqnr 20, " : "--scheme ort-u8, ") + "or more samples";
}

}  // namespace

size_t count_float_nodes(const convert::Report& nodes) {
  const auto& all = nodes.findings();
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const convert::Finding& f) {
    return f.is_node && f.level == "F";
  }));
}

std::string plan_text(const convert::Report& nodes, bool all) {
  size_t integer = 0, floating = 0;
  std::string text, names;
  for (const convert::Finding& f : nodes.findings()) {
    if (!f.is_node) continue;
    if (all)
      text += format("%-8s %s (%s) -> %s\n", f.level.c_str(), f.node.c_str(), f.op.c_str(),
                     f.result.c_str());
    if (f.level != "F") {
      ++integer;
      continue;
    }
    if (++floating <= 3) names += (names.empty() ? "" : ", ") + f.node;
  }
  text += tool::counted(integer, "node") + (integer == 1 ? " becomes" : " become") + " integers";
  if (floating > 0)
    text += format(", %zu run in float (%s%s)", floating, names.c_str(),
                   floating > 3 ? ", ..: --nodes" : "");
  return text + "\n";
}

std::string text_report(const Findings& f) {
  std::string text =
      format("%s, scheme %s, %s for the ranges%s\n", f.model.c_str(), f.scheme.c_str(),
             tool::counted(f.calibration_samples, "sample").c_str(),
             f.is_random ? " (random: for timing only)" : "");
  if (!f.why_onnx.empty())
    text += "with ONNX's arithmetic, not ESP-DL's, which has no form of " + f.why_onnx + "\n";
  add_set("calibration", f.calibration, &text);
  add_set("held out", f.held_out, &text);
  if (!f.metric.program.empty())
    text += format("metric         %9g   (float %g), by %s\n", f.metric.got, f.metric.real,
                   f.metric.program.c_str());
  for (const RungFinding& r : f.rungs)
    text += format("  %-16s %s -> %s, %s: %s\n", r.name.c_str(), decibels(1 / r.before).c_str(),
                   decibels(1 / r.after).c_str(), r.is_kept ? "kept" : "not kept", r.why.c_str());
  if (f.tensors.empty()) return text;
  text += format("%-34s %8s %8s %8s %5s %-9s %s\n", "worst tensors", "alone", "so far", "clipped",
                 "codes", "rule", "remedy");
  for (size_t i = 0; i < std::min(kRows, f.tensors.size()); ++i) {
    const TensorFinding& t = f.tensors[i];
    text += format("%-34s %8s %8s %7.3f%% %5d %-9s %s\n", short_name(t.name, 34).c_str(),
                   decibels(1 / t.alone).c_str(), decibels(1 / t.cumulative).c_str(),
                   t.clipped * 100, t.codes_used, t.rule.c_str(), t.remedy.c_str());
  }
  text +=
      "  signal to noise of the tensor: alone, by its own rounding; so far, by all up to\n"
      "  it. clipped: values beyond its range. codes: integers of it that occur\n";
  size_t promoted = 0;
  for (const TensorFinding& t : f.tensors) promoted += t.is_promoted;
  if (promoted > 0)
    text += tool::counted(promoted, "tensor") + (promoted == 1 ? " has" : " have") + " 16 bits\n";
  for (const Int16Finding& w : f.with_int16)
    text += format("  %zu more with 16 bits     %9s, %.3g ms\n", w.tensors.size(),
                   decibels(1 / w.noise).c_str(), w.cost.ms);
  if (!f.with_int16.empty()) text += std::string("  ") + kNominalCore + "\n";
  return text;
}

std::string why_not_to_ship(const Findings& f) {
  const Findings::Set& set = f.held_out.all.samples() > 0 ? f.held_out : f.calibration;
  const Comparison& c = set.all;
  if (f.is_random || c.samples() == 0) return "";
  if (c.is_classes() && c.samples() >= 10 && c.agreement() < kLeastAgreement)
    return format(
        "the integer model agrees with the float model on %.1f %% of the held-out samples only, "
        "expected %.0f %% (try %s)",
        c.agreement() * 100, kLeastAgreement * 100, what_to_try(f.remedies).c_str());
  const double least = least_ratio(set);
  if (f.min_sqnr > 0 && 10 * std::log10(least) < f.min_sqnr)
    return format(
        "the integer model's outputs are %s from the float model's, and --min-sqnr asks for %g dB",
        decibels(least).c_str(), f.min_sqnr);
  const MetricFinding& m = f.metric;
  if (m.max_loss >= 0 && m.real - m.got > m.max_loss)
    return format(
        "the integer model has %g by %s, the float model %g, and --max-loss allows %g less", m.got,
        m.program.c_str(), m.real, m.max_loss);
  if (least < (c.is_classes() ? kLeastRatio : kLeastRatioOfReals))
    return format("the integer model's outputs are %s from the float model's, expected %s (try %s)",
                  decibels(least).c_str(),
                  decibels(c.is_classes() ? kLeastRatio : kLeastRatioOfReals).c_str(),
                  what_to_try(f.remedies).c_str());
  return "";
}

std::vector<std::string> warnings(const Findings& f) {
  std::vector<std::string> result;
  const Findings::Set& set = f.held_out.all.samples() > 0 ? f.held_out : f.calibration;
  if (f.is_random || set.all.samples() == 0) return result;
  const double least = least_ratio(set);
  if (!set.all.is_classes() && least < kDoubtfulRatio)
    result.push_back(format(
        "the worst output is %s from the float model's: below %s compare results of your own",
        decibels(least).c_str(), decibels(kDoubtfulRatio).c_str()));
  if (f.judged_samples < kFewSamples)
    result.push_back(format("judged on %s: give %zu or more",
                            tool::counted(f.judged_samples, "sample").c_str(), kFewSamples));
  return result;
}

}  // namespace qrt::quantize
