// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/json.h"

#include <cmath>

#include "converter/quantize/ranges/rules.h"
#include "converter/quantize/report/report.h"

namespace qrt::quantize {
namespace {

using Json = nlohmann::ordered_json;

// Returns a ratio in decibels; null where there is no noise at all.
Json decibels(double ratio) {
  return std::isfinite(ratio) && ratio > 0 ? Json(10 * std::log10(ratio)) : Json(nullptr);
}

Json json(const Comparison& c) {
  Json j = {{"samples", c.samples()}, {"sqnr_db", decibels(c.ratio())}, {"cosine", c.cosine()}};
  if (c.is_classes()) {
    j["agreement"] = c.agreement();
    j["agreement_top5"] = c.agreement5();
  }
  if (c.has_labels()) {
    j["accuracy"] = c.accuracy();
    j["float_accuracy"] = c.float_accuracy();
  }
  return j;
}

Json json(const Findings::Set& s) {
  Json j = {
      {"weights", json(s.weights)}, {"activations", json(s.activations)}, {"all", json(s.all)}};
  for (const auto& [output, c] : s.others) j["other_outputs"][output] = json(c);
  return j;
}

Json json(const TensorFinding& t) {
  Json j = {{"name", t.name},
            {"op", t.op},
            {"bits", t.coding.bits},
            {"scale", t.coding.scale},
            {"zero_point", t.coding.zero_point},
            {"rule", t.rule},
            {"sqnr_alone_db", decibels(1 / t.alone)},
            {"sqnr_cumulative_db", decibels(1 / t.cumulative)},
            {"clipped", t.clipped},
            {"codes_used", t.codes_used},
            {"mean_shift", t.mean_shift},
            {"not_finite", t.bad},
            {"remedy", t.remedy}};
  if (t.worst_channel >= 0) {
    j["worst_channel"] = t.worst_channel;
    j["worst_channel_db"] = decibels(1 / t.worst_channel_noise);
    j["bias_headroom_bits"] = t.bias_headroom;
  }
  return j;
}

}  // namespace

Json findings_json(const Findings& f) {
  Json j = {{"model", f.model},
            {"scheme", f.scheme},
            {"not_the_schemes_arithmetic", f.why_onnx},
            {"calibration", f.is_random ? "random" : "samples"},
            {"calibration_samples", f.calibration_samples},
            {"held_out_samples", f.held_out_samples},
            {"integer_nodes", f.integer_nodes},
            {"float_nodes", f.float_nodes},
            {"agreement", {{"calibration", json(f.calibration)}, {"held_out", json(f.held_out)}}}};
  if (!f.metric.program.empty())
    j["metric"] = {{"program", f.metric.program},
                   {"float", f.metric.real},
                   {"integers", f.metric.got},
                   {"max_loss", f.metric.max_loss < 0 ? Json() : Json(f.metric.max_loss)}};
  j["ladder"] = Json::array();
  for (const RungFinding& r : f.rungs) {
    auto outputs = Json::array();
    for (const RungFinding::Output& o : r.outputs)
      outputs.push_back({{"output", o.name},
                         {"before_db", decibels(1 / o.before)},
                         {"after_db", decibels(1 / o.after)}});
    j["ladder"].push_back({{"rung", r.name},
                           {"before_db", decibels(1 / r.before)},
                           {"after_db", decibels(1 / r.after)},
                           {"kept", r.is_kept},
                           {"why", r.why},
                           {"outputs", outputs}});
  }
  j["tensors"] = Json::array();
  for (const TensorFinding& t : f.tensors) j["tensors"].push_back(json(t));
  j["more_with_16_bits"] = Json::array();
  for (const Int16Finding& w : f.with_int16)
    j["more_with_16_bits"].push_back({{"tensors", w.tensors},
                                      {"sqnr_db", decibels(1 / w.noise)},
                                      {"macs", w.cost.macs},
                                      {"bytes", w.cost.bytes},
                                      {"roofline_ms", w.cost.ms}});
  j["nodes"] = Json::array();
  for (const convert::Finding& n : f.nodes.findings())
    if (n.is_node)
      j["nodes"].push_back(
          {{"node", n.node}, {"op", n.op}, {"becomes", n.result}, {"level", n.level}});
  return j;
}

std::string json_report(const Findings& f) {
  return findings_json(f).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qrt::quantize
