// SPDX-License-Identifier: Apache-2.0
// XNNPACK beside qrt on the layers of bench/shapes: one thread, one process, samples in turns.
// XNNPACK runs on signed data as it likes it: no flips, which `--kernels=xnnpack` needs.
//
//   vs_xnnpack [TEXT]     layers whose name contains TEXT, "resnet50/"; "-" for all; the default
//                            leaves out growth/
#include <cstdio>
#include <string>

#include "bench/kernels/problems.h"
#include "bench/peers/in_turns.h"
#include "runtime/providers/xnnpack/operators.h"

namespace qrt::bench {
namespace {

template <class Ours>
Times compare(const Ours& ours, XnnpackOperator* theirs) {
  theirs->bind(nullptr, nullptr, nullptr, nullptr);  // it works on memory of its own
  fill(theirs->flipped_input(), theirs->input_bytes());
  return in_turns(ours, [&] { theirs->run(); });
}

XnnpackConv conv_of(const Layer& l) {
  XnnpackConv c{};
  static_cast<Window2D&>(c) = l.window();
  c.images = 1, c.in_c = l.in_c, c.out_c = l.out_c;
  c.groups = 1;
  c.input_zero_point = 128;
  return c;
}

void print(const Layer& layer, const char* kernel, double macs, const Times& t) {
  printf("%-48s %-40s %10.2f %8.1f %10.2f %8.1f %7.2f\n", layer.name.c_str(), kernel, t.ours * 1e-3,
         macs / t.ours, t.theirs * 1e-3, macs / t.theirs, t.ratio);
  fflush(stdout);
}

void run_layer(const Layer& layer) {
  const Layer as = as_conv(layer);
  XnnpackConv conv = conv_of(as);
  const std::vector<int32_t> bias(as.out_c, 1000), weight_sum(as.out_c, 0);
  conv.bias = bias.data();
  conv.weight_sum = weight_sum.data();
  XnnpackPointer theirs;
  if (layer.kind == Layer::Kind::kDepthwise) {
    const DepthwiseKernel& kernel = *select_depthwise(detected_isas(), depthwise_shape(layer));
    const DepthwiseProblem problem(layer, kernel);
    conv.groups = as.in_c;
    conv.weights = problem.weights();
    conv.requant = problem.requant();
    if ((theirs = xnnpack_depthwise(conv)) == nullptr) return;
    print(layer, kernel.name, problem.work().macs, compare([&] { problem.run(); }, theirs.get()));
  } else {
    const size_t k = as.in_c * as.kernel * as.kernel;
    const GemmKernel& kernel = *select_gemm(
        detected_isas(), {as.out_h() * as.out_w(), as.out_c, 1, k, RequantKind::kF32, false});
    const GemmProblem problem(layer, kernel);
    conv.weights = problem.weights();
    conv.taps = problem.taps();
    conv.k = problem.k();
    conv.requant = problem.requant();
    if ((theirs = xnnpack_convolution(conv)) == nullptr) return;
    print(layer, kernel.name, problem.work().macs, compare([&] { problem.run(); }, theirs.get()));
  }
}

}  // namespace
}  // namespace qrt::bench

int main(int argc, char** argv) {
  if (argc > 2 || !qrt::has_xnnpack()) {
    fprintf(stderr, argc > 2 ? "usage: vs_xnnpack [TEXT]\n" : "XNNPACK lacks this CPU\n");
    return argc > 2 ? 2 : 4;
  }
  const std::string text = argc > 1 ? argv[1] : "";
  printf("%-48s %-40s %10s %8s %10s %8s %7s\n", "layer", "qrt's kernel", "qrt us", "GMAC/s",
         "xnnpack us", "GMAC/s", "ratio");
  for (const qrt::bench::Layer& layer : qrt::bench::read_layers()) {
    if (layer.kind == qrt::bench::Layer::Kind::kGrouped) continue;
    const bool growth = layer.name.rfind("growth/", 0) == 0;
    if (text.empty() ? growth : text != "-" && layer.name.find(text) == std::string::npos) continue;
    qrt::bench::run_layer(layer);
  }
  return 0;
}
