// SPDX-License-Identifier: Apache-2.0
// The findings of a quantisation, for its reports.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_FINDINGS_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_FINDINGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "converter/quantize/ranges/histogram.h"
#include "converter/quantize/report/comparison.h"
#include "converter/quantize/report/cost.h"
#include "converter/quantize/schemes/scheme.h"
#include "converter/report.h"

namespace qrt::quantize {

// One tensor that is rounded.
struct TensorFinding {
  std::string name, op;  // op: of the node that writes it; "input"
  Coding coding;
  std::string rule;       // name of the rule that chose the range
  double alone = 0;       // noise : signal of the tensor's own rounding
  double cumulative = 0;  // noise : signal of all roundings up to it
  double clipped = 0;     // share of the values that are clipped
  int codes_used = 0;     // number of codes between the least and the greatest that occur
  uint64_t bad = 0;       // NaN and infinite values that were ignored
  // Mean error of the quantised tensor, in standard deviations of the real one.
  double mean_shift = 0;
  bool is_promoted = false;  // it has 16 bits
  Histogram histogram;
  // The layer that writes the tensor, if one does:
  int worst_channel = -1;  // the channel whose weights lose most by their own rounding
  double worst_channel_noise = 0;
  double bias_headroom = 0;  // bits between the greatest bias and 2^31
  std::string remedy;        // "" where nothing is wrong
};

// A rung of the ladder: what it changed of the error on the held-out samples.
struct RungFinding {
  struct Output {
    std::string name;
    double before = 0, after = 0;
  };
  std::string name;
  double before = 0, after = 0;  // noise : signal, the mean of the outputs'
  bool is_kept = false;
  std::vector<Output> outputs = {};  // in the model's order
  std::string why = {};              // it is kept, or not
};

// The model as a graph: inputs, nodes in the order of execution, outputs.
struct GraphFinding {
  struct Node {
    std::string kind;  // "input", "operator", "output"
    std::string name, op;
    // The part of all tensors' own rounding errors that what the node makes has; below 0: that is not rounded.
    double share = -1;
  };
  std::vector<Node> nodes;
  std::vector<std::pair<size_t, size_t>> edges;  // from a node to one behind it
};

// A picture that both models got, and what they made of it.
struct PictureFinding {
  struct Image {
    int64_t width = 0, height = 0;
    std::vector<uint8_t> rgb;
  };
  Image input, real, got;  // real and got: empty where the first output is no picture
  double sqnr = 0;         // dB of the first output
  int64_t real_class = -1, got_class = -1;  // below 0: the first output is no row of classes
};

// The integer model with 16 bits for its worst tensors.
struct Int16Finding {
  std::vector<std::string> tensors;  // tensors that have 16 bits; none: the model is as it was
  double noise = 0;                  // noise : signal of the outputs on the held-out samples
  Cost cost;
};

// The remedies that a report may name: not those that this run has tried, nor those that the scheme lacks.
struct Remedies {
  bool has_ladder = false;   // the ladder was tried
  bool has_16_bits = false;  // the scheme has 16 bits
  bool has_classes = false;  // the first output is a row of classes
};

// The user's own measure of both models.
struct MetricFinding {
  std::string program;       // "": there is none
  double real = 0, got = 0;  // of the float and the integer model
  double max_loss = -1;      // below 0: not asked for
};

struct Findings {
  std::string model, scheme, samples;
  bool is_random = false;
  std::string why_onnx;  // the model has ONNX's arithmetic, not its scheme's: which node, and why
  Remedies remedies;
  size_t calibration_samples = 0, held_out_samples = 0;
  size_t judged_samples = 0;  // number of samples by which the steps were judged
  double min_sqnr = 0;        // dB that were asked for; 0: none
  MetricFinding metric;
  size_t integer_nodes = 0, float_nodes = 0;
  convert::Report nodes;
  struct Set {
    Comparison weights, activations, all;                    // the first output's
    std::vector<std::pair<std::string, Comparison>> others;  // `all` of the other outputs, by name
  };
  Set calibration, held_out;  // `all` is the integer model that ships; the others are simulated
  std::vector<TensorFinding> tensors;  // worst first
  std::vector<RungFinding> rungs;
  std::vector<Int16Finding> with_int16;
  GraphFinding graph;
  std::vector<PictureFinding> pictures;  // of samples that were held out
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_FINDINGS_H_
