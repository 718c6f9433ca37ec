// SPDX-License-Identifier: Apache-2.0
// The fuzzers' entry functions. Each takes any bytes and returns; what must not happen ends the
// process: a crash, a sanitizer's report, or failed() below. libFuzzer calls them through
// libfuzzer.cc, ctest replays tests/fuzz/regressions through them (replay_test.cc).
#ifndef QRT_TESTS_FUZZ_FUZZ_H_
#define QRT_TESTS_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qrt::fuzz {

// Bytes -> verify -> plan on every instruction set and thread count.
void fuzz_load(const uint8_t* data, size_t size);

// Bytes -> verify -> run on every instruction set of this machine: all give the same bytes.
void fuzz_run(const uint8_t* data, size_t size);

// Bytes are choices: a valid model of random operators is made of them, which must load and give
// the same bytes on every instruction set.
void fuzz_graph(const uint8_t* data, size_t size);

// Bytes -> import_onnx -> passes -> write -> load -> run.
void fuzz_onnx(const uint8_t* data, size_t size);
// Bytes -> import_tflite -> passes -> write -> load -> run.
void fuzz_tflite(const uint8_t* data, size_t size);
// Bytes -> import_espdl -> passes -> write -> load -> run.
void fuzz_espdl(const uint8_t* data, size_t size);
// Bytes -> import_cvm -> passes -> write -> load -> run: the symbol's length in the first four
// bytes, low byte first, then the symbol, then the params.
void fuzz_cvm(const uint8_t* data, size_t size);
// Bytes -> the quantiser's reader of float models -> its graph form -> where it would quantise.
void fuzz_float(const uint8_t* data, size_t size);

// Targets for the files that the tools read beside models: pictures, arrays, labels, ONNX test data, the index of a folder of
// tensors (JSON), the options of a custom operator of TFLite, and command lines.
void fuzz_image(const uint8_t* data, size_t size);
void fuzz_npy(const uint8_t* data, size_t size);
void fuzz_npz(const uint8_t* data, size_t size);
void fuzz_labels(const uint8_t* data, size_t size);
void fuzz_test_data(const uint8_t* data, size_t size);
void fuzz_json(const uint8_t* data, size_t size);
void fuzz_flexbuffers(const uint8_t* data, size_t size);
void fuzz_options(const uint8_t* data, size_t size);

struct Target {
  const char* name;
  void (*run)(const uint8_t* data, size_t size);
};
constexpr Target kTargets[] = {
    {"fuzz_load", fuzz_load},
    {"fuzz_run", fuzz_run},
    {"fuzz_graph", fuzz_graph},
    {"fuzz_onnx", fuzz_onnx},
    {"fuzz_tflite", fuzz_tflite},
    {"fuzz_espdl", fuzz_espdl},
    {"fuzz_cvm", fuzz_cvm},
    {"fuzz_float", fuzz_float},
    {"fuzz_image", fuzz_image},
    {"fuzz_npy", fuzz_npy},
    {"fuzz_npz", fuzz_npz},
    {"fuzz_labels", fuzz_labels},
    {"fuzz_test_data", fuzz_test_data},
    {"fuzz_json", fuzz_json},
    {"fuzz_flexbuffers", fuzz_flexbuffers},
    {"fuzz_options", fuzz_options},
};

// Prints the message and aborts: a property does not hold.
[[noreturn]] void failed(const std::string& message);

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_FUZZ_H_
