// The report as one page: style and pictures are in it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "converter/quantize/report/format.h"
#include "converter/quantize/report/report.h"

namespace qrt::quantize {
namespace {

const char kStyle[] =
    "body{font:14px/1.4 sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse}"
    "td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child,.l{text-align:left}svg{background:#f6f6f6}";
constexpr double kWidth = 256, kHeight = 40;  // of a histogram's picture
constexpr size_t kColumns = 128;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string decibels(double ratio) {
  return std::isfinite(ratio) && ratio > 0 ? format("%.1f dB", 10 * std::log10(ratio)) : "exact";
}

// Counts as logarithms, and where the integers end.
std::string picture(const TensorFinding& t) {
  const Histogram& h = t.histogram;
  if (h.bins() == 0) return "";
  std::vector<double> columns(kColumns);
  double most = 0;
  for (size_t i = 0; i < h.bins(); ++i)
    columns[i * kColumns / h.bins()] += static_cast<double>(h.counts()[i]);
  for (double& c : columns) most = std::max(most, c = std::log1p(c));
  std::string svg = format("<svg width=%g height=%g>", kWidth, kHeight);
  for (size_t i = 0; i < kColumns && most > 0; ++i) {
    const double height = kHeight * columns[i] / most;
    svg += format("<rect x=%g y=%.1f width=2 height=%.1f fill=\"#69c\"/>",
                  2.0 * static_cast<double>(i), kHeight - height, height);
  }
  for (const float end : {t.coding.low(), t.coding.high()}) {
    const double x = (static_cast<double>(end) - static_cast<double>(h.lo())) /
                     (static_cast<double>(h.hi()) - static_cast<double>(h.lo())) * kWidth;
    if (x >= 0 && x <= kWidth)
      svg += format("<line x1=%.1f x2=%.1f y1=0 y2=%g stroke=\"#c00\"/>", x, x, kHeight);
  }
  return svg + "</svg>";
}

std::string row(const char* name, const Comparison& c) {
  std::string text = format("<tr><td>%s<td>%s", name, decibels(c.ratio()).c_str());
  text += c.is_classes()
              ? format("<td>%.2f %%<td>%.2f %%", c.agreement() * 100, c.agreement5() * 100)
              : "<td>-<td>-";
  text += c.has_labels()
              ? format("<td>%.2f %% (float %.2f %%)", c.accuracy() * 100, c.float_accuracy() * 100)
              : "<td>-";
  return text + format("<td>%zu</tr>\n", c.samples());
}

std::string set(const char* name, const Findings::Set& s) {
  std::string text =
      format("<tr><th>%s<th>signal : noise<th>agrees<th>in five<th>right<th>samples</tr>\n", name) +
      row("weights", s.weights) + row("activations", s.activations) +
      row("all (the integer model)", s.all);
  for (const auto& [output, c] : s.others) text += row(("all, " + escaped(output)).c_str(), c);
  return text;
}

}  // namespace

std::string html_report(const Findings& f) {
  std::string page = "<!doctype html><html lang=en><meta charset=utf-8><title>" + escaped(f.model) +
                     "</title><style>" + kStyle + "</style>\n<h1>" + escaped(f.model) + "</h1>\n";
  page += format(
      "<p>Scheme %s; %zu samples for the ranges%s, %zu held out; %zu nodes are integers, %zu run "
      "in float.</p>\n",
      f.scheme.c_str(), f.calibration_samples, f.is_random ? " (random: for timing only)" : "",
      f.held_out_samples, f.integer_nodes, f.float_nodes);
  page +=
      "<table>" + set("Calibration", f.calibration) + set("Held out", f.held_out) + "</table>\n";
  if (!f.rungs.empty()) page += "<h2>Ladder</h2><table><tr><th>rung<th>before<th>after<th></tr>\n";
  for (const RungFinding& r : f.rungs)
    page += format("<tr><td>%s<td>%s<td>%s<td class=l>%s</tr>\n", escaped(r.name).c_str(),
                   decibels(1 / r.before).c_str(), decibels(1 / r.after).c_str(),
                   r.is_kept ? "kept" : "not kept");
  if (!f.rungs.empty()) page += "</table>\n";
  page +=
      "<h2>Tensors, worst first</h2><table><tr><th>tensor<th>op<th>bits<th>alone<th>so "
      "far<th>clipped<th>codes"
      "<th>rule<th>mean shift<th>worst channel<th>bias headroom<th>values and "
      "limits<th>remedy</tr>\n";
  for (const TensorFinding& t : f.tensors) {
    page += "<tr><td>" + escaped(t.name) + "<td class=l>" + escaped(t.op) +
            format("<td>%d<td>%s<td>%s<td>%.4f %%<td>%d<td>%s<td>%.3f", t.coding.bits,
                   decibels(1 / t.alone).c_str(), decibels(1 / t.cumulative).c_str(),
                   t.clipped * 100, t.codes_used, t.rule.c_str(), t.mean_shift);
    page += t.worst_channel >= 0
                ? format("<td>%d: %s<td>%.1f bits", t.worst_channel,
                         decibels(1 / t.worst_channel_noise).c_str(), t.bias_headroom)
                : "<td>-<td>-";
    page += "<td>" + picture(t) + "<td class=l>" + escaped(t.remedy) + "</tr>\n";
  }
  page += "</table>\n";
  if (!f.wide.empty())
    page +=
        "<h2>More tensors with 16 bits</h2><table><tr><th>tensors<th>signal : noise, held "
        "out<th>ms<th>products<th>bytes<th>with</tr>\n";
  for (size_t i = 0; i < f.wide.size(); ++i) {
    const WideFinding& w = f.wide[i];
    page += format("<tr><td>%zu<td>%s<td>%.3g<td>%llu<td>%llu<td class=l>", w.tensors.size(),
                   decibels(1 / w.noise).c_str(), w.cost.ms,
                   static_cast<unsigned long long>(w.cost.macs),
                   static_cast<unsigned long long>(w.cost.bytes));
    for (size_t k = i == 0 ? 0 : f.wide[i - 1].tensors.size(); k < w.tensors.size(); ++k)
      page += escaped(w.tensors[k]) + "<br>";
    page += "</tr>\n";
  }
  if (!f.wide.empty()) page += std::string("</table><p>") + kNominalCore + ".</p>\n";
  page += "<h2>Nodes</h2><table><tr><th>node<th>op<th>becomes<th>level</tr>\n";
  for (const convert::Finding& n : f.nodes.findings())
    if (n.is_node)
      page += "<tr><td>" + escaped(n.node) + "<td class=l>" + escaped(n.op) + "<td class=l>" +
              escaped(n.result) + "<td class=l>" + escaped(n.level) + "</tr>\n";
  return page + "</table></html>\n";
}

}  // namespace qrt::quantize
