// SPDX-License-Identifier: Apache-2.0
// The report as a page for a browser (runtime/tools/page/): what the JSON says, a verdict, and the values'
// distributions.
#include <algorithm>
#include <cmath>

#include "converter/quantize/report/format.h"
#include "converter/quantize/report/json.h"
#include "converter/quantize/report/report.h"
#include "runtime/tools/page/page_files.h"
#include "runtime/tools/page/script_data.h"

namespace qrt::quantize {
namespace {

using nlohmann::ordered_json;

constexpr size_t kColumns = 64;  // of a histogram's picture
// Below these an integer model that may be used has visible losses.
constexpr double kGoodAgreement = 0.98, kGoodRatio = 100;

ordered_json histogram_json(const TensorFinding& t) {
  const Histogram& h = t.histogram;
  if (h.bins() == 0) return nullptr;
  std::vector<uint64_t> columns(std::min(kColumns, h.bins()));
  for (size_t i = 0; i < h.bins(); ++i) columns[i * columns.size() / h.bins()] += h.counts()[i];
  return {{"from", h.lo()},
          {"to", h.hi()},
          {"counts", columns},
          {"low", t.coding.low()},
          {"high", t.coding.high()}};
}

// Returns a sentence such as "the integer model chooses the float model's class for 98.0 % of 200
// held-out samples".
std::string likeness(const Comparison& c, const char* kind) {
  const double error = std::isfinite(c.ratio()) ? 100 / std::sqrt(c.ratio()) : 0;
  std::string text = format("on %zu %s samples ", c.samples(), kind);
  if (c.is_classes())
    text += format(
        "the integer model chooses the float model's class in %.1f %% of the cases, and "
        "its outputs",
        c.agreement() * 100);
  else
    text += "the integer model's outputs";
  text += error > 0 ? format(" differ from the float model's by %.2g %% of their size", error)
                    : " are the float model's";
  if (c.has_labels())
    text += format("; its accuracy is %.1f %%, the float model's %.1f %%", c.accuracy() * 100,
                   c.float_accuracy() * 100);
  return text + ".";
}

// Returns {"kind": "good", "fair", "bad" or "unknown", "text": one sentence}.
ordered_json verdict(const Findings& f) {
  const bool is_held_out = f.held_out.all.samples() > 0;
  const Findings::Set& set = is_held_out ? f.held_out : f.calibration;
  const auto result = [](const char* kind, const std::string& text) {
    return ordered_json{{"kind", kind}, {"text", text}};
  };
  if (f.is_random)
    return result("unknown",
                  "For timing only: the ranges come from random samples, which tell nothing of the "
                  "model's accuracy.");
  if (set.all.samples() == 0)
    return result("unknown", "Not judged: no sample was compared with the float model.");
  if (const std::string why = why_not_to_ship(f); !why.empty())
    return result("bad", "Not to be used as it is: " + why + ".");
  double least = set.all.ratio();
  for (const auto& [name, other] : set.others) least = std::min(least, other.ratio());
  const bool is_good =
      (!set.all.is_classes() || set.all.agreement() >= kGoodAgreement) && least >= kGoodRatio;
  return result(is_good ? "good" : "fair",
                (is_good ? "Ready to use: " : "Usable, with losses: ") +
                    likeness(set.all, is_held_out ? "held-out" : "calibration"));
}

std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

ordered_json image_json(const PictureFinding::Image& image) {
  if (image.rgb.empty()) return nullptr;
  return {{"width", image.width}, {"height", image.height}, {"rgb", base64(image.rgb)}};
}

ordered_json pictures_json(const std::vector<PictureFinding>& pictures) {
  auto all = ordered_json::array();
  for (const PictureFinding& p : pictures) {
    ordered_json one = {{"input", image_json(p.input)},
                        {"float", image_json(p.real)},
                        {"integers", image_json(p.got)},
                        {"sqnr_db", std::isfinite(p.sqnr) ? ordered_json(p.sqnr) : nullptr}};
    if (p.real_class >= 0) one["classes"] = {p.real_class, p.got_class};
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json graph_json(const GraphFinding& graph) {
  ordered_json json = {{"nodes", ordered_json::array()}, {"edges", graph.edges}};
  for (const GraphFinding::Node& node : graph.nodes)
    json["nodes"].push_back(
        {{"kind", node.kind},
         {"name", node.name},
         {"op", node.op},
         {"share", node.share < 0 ? ordered_json() : ordered_json(node.share)}});
  return json;
}

}  // namespace

std::string html_report(const Findings& f) {
  ordered_json page = findings_json(f);
  page["verdict"] = verdict(f);
  page["nominal_core"] = std::string(kNominalCore);
  page["graph"] = graph_json(f.graph);
  page["pictures"] = pictures_json(f.pictures);
  for (size_t i = 0; i < f.tensors.size(); ++i)
    page["tensors"][i]["histogram"] = histogram_json(f.tensors[i]);
  return tool::kReportPageStart + tool::script_data(std::move(page)) + tool::kReportPageEnd;
}

}  // namespace qrt::quantize
