// SPDX-License-Identifier: Apache-2.0
// Float ONNX in, integers out: the quantiser as a library. qrt_quantize.cc is its command line.
//
//   read, simplify -> place (schemes/) -> judged by the converter's own front end
//   -> ranges of the samples (ranges/) -> codings, weights -> ladder (ladder/)
//   -> QDQ ONNX (schemes/qdq_writer) or a CVM model (cvm/) -> import/ -> .qrt, run and compared
//   (report/)
#ifndef QRT_CONVERTER_QUANTIZE_QUANTIZE_H_
#define QRT_CONVERTER_QUANTIZE_QUANTIZE_H_

#include <string>
#include <vector>

#include "converter/quantize/integer_model.h"
#include "converter/quantize/overrides/overrides.h"
#include "converter/quantize/ranges/calibration.h"
#include "converter/quantize/report/findings.h"
#include "converter/quantize/samples/samples.h"
#include "converter/quantize/schemes/scheme.h"

namespace qrt::quantize {

// The kind of the first output, by which results are judged. kAuto: classes where it is a row of four or
// more, or of two and more with labels or behind a Softmax.
enum class Task { kAuto, kClasses, kRegression, kBoxes, kAudio };

enum class Ladder { kMinMax, kNone, kFast, kFull };

struct Settings {
  std::string model;
  convert::SourceEdges edges;  // the part of the model that is quantised
  std::vector<std::string> calibration;
  std::vector<std::string> outputs;  // files that the result will go to: none of the model's
  tool::PictureOptions images;
  std::string labels;  // .npy or .txt; empty: none
  Scheme scheme = schemes()[0];
  Ladder ladder = Ladder::kFast;
  Overrides overrides;
  Task task = Task::kAuto;
  double min_sqnr = 0;   // dB that the worst output is to have; 0: not asked for
  std::string metric;    // program that measures a folder of outputs; empty: none
  double max_loss = -1;  // by `metric`; below 0: not asked for
  double max_drop = -1;  // points of agreement, or of accuracy with labels; below 0: not asked for
  int threads = 1;
  uint64_t budget = 1;     // times what a run may take for files of this size
  bool try_int16 = false;  // estimate for the report what 16 bits would bring
};

struct Quantised {
  Document document;           // the quantised model in the scheme's source format
  std::vector<uint8_t> bytes;  // content of the .qrt file
  std::string ranges;          // text that read_overrides() reads
  Findings findings;
};

// Quantises a model. Fails with kInvalidArgument, kInvalidModel, kUnsupported or kIoError and a message that
// says what to do. `plan` is told what each node will be before the first sample is read for its ranges.
Status quantize(const Settings& settings, const Progress& progress,
                const std::function<void(const convert::Report&)>& plan, Quantised* result);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_QUANTIZE_H_
