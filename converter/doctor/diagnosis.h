// SPDX-License-Identifier: Apache-2.0
// The findings of qrt_doctor about a file, and the forms that it tells them in.
#ifndef QRT_CONVERTER_DOCTOR_DIAGNOSIS_H_
#define QRT_CONVERTER_DOCTOR_DIAGNOSIS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::doctor {

struct Settings {
  double seconds = 0.5;  // time to measure the model for; 0: it is not measured
  size_t threads = 1;
};

// Nodes that are refused for one reason.
struct Reason {
  std::string node, op;  // the first of them
  std::string rule, remedy;
  size_t count = 1;
};

struct Diagnosis {
  std::string file;
  uint64_t bytes = 0;
  std::string format;    // "ONNX", "a .qrt model"
  std::string producer;  // "" where the file does not say
  bool is_qrt = false;
  bool converts = false;           // true also for a .qrt model that can run
  std::vector<std::string> given;  // options without which it does not convert
  std::string problem;             // why it does not convert where no node is to blame
  size_t nodes = 0, refused = 0, unknown = 0;
  std::vector<Reason> reasons;

  // From here on only where it converts.
  std::vector<std::string> inputs, outputs;  // "image float32 [1, 3, 224, 224]"
  bool takes_pictures = false;
  std::map<std::string, size_t> levels;    // operators of each level
  std::map<std::string, size_t> in_float;  // operators of level F, by kind
  bool is_wholly_float = false;
  std::string batch;  // "any", or a number
  double ms = 0;      // 0: not measured
  std::string isa, speed_problem;

  std::vector<std::string> next;  // commands, or what else to do
};

// Reads a file and, where it is a model, tries it. Fails with kIoError, or with kInvalidModel where it is no model;
// that a model cannot be converted is a diagnosis.
Status diagnose(const std::string& path, const Settings& settings, Diagnosis* diagnosis);

// Returns the diagnosis as at most 24 lines of `width` columns.
std::string screen(const Diagnosis& diagnosis, size_t width);
// Returns the diagnosis for programs (runtime/tools/schemas/doctor.schema.json).
std::string json(const Diagnosis& diagnosis);

}  // namespace qrt::doctor

#endif  // QRT_CONVERTER_DOCTOR_DIAGNOSIS_H_
