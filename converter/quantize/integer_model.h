// SPDX-License-Identifier: Apache-2.0
// The quantised model as it ships: converted from its source format by the converter itself.
#ifndef QRT_CONVERTER_QUANTIZE_INTEGER_MODEL_H_
#define QRT_CONVERTER_QUANTIZE_INTEGER_MODEL_H_

#include <string>
#include <vector>

#include "converter/quantize/cvm/cvm_writer.h"
#include "converter/quantize/float/integer_runner.h"
#include "converter/report.h"
#include "runtime/status.h"

namespace qrt::quantize {

// The result of a conversion: the converter's findings on every node of a quantised model, and the file.
struct Conversion {
  convert::Report report;
  std::vector<uint8_t> bytes;  // content of the .qrt file
};

// The arithmetic that a QDQ model gets: ONNX's, where nodes without an integer form may run in
// float; or ESP-DL's (espdl-p4), which has no float.
struct Arithmetic {
  std::string espdl;  // "": ONNX's
  bool allow_float = true;
};

// A quantised model in the format of the system whose arithmetic it has.
struct Document {
  std::string qdq;  // an ONNX file; empty: it is a CVM model
  CvmModel cvm;
};

// Runs only the front end: *report has every node's outcome.
Status judge_document(const Document& document, const Arithmetic& arithmetic,
                      convert::Report* report);

// Converts a model to .qrt bytes. `notes` become the file's metadata. kUnsupported where a node is
// refused: conversion->report says why.
Status convert_document(const Document& document, const Arithmetic& arithmetic,
                        const std::map<std::string, std::string>& notes, Conversion* conversion);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_INTEGER_MODEL_H_
