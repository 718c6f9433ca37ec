// SPDX-License-Identifier: Apache-2.0
// cvm-runtime's library and qrt on one MRT/CVM model, in turns, one thread of each:
//   vs_cvm LIBCVM_RUNTIME.so SYMBOL PARAMS MODEL.qrt [ROUNDS]
// Prints the least times, their ratio and how many bytes of the outputs differ. The library is opened
// by its C interface (README.md says how to build it); device 0 is its optimised CPU backend.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"

namespace {

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw qrt::Error(QRT_IO_ERROR, std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double now_ms() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

// The functions of the library that are used; each gives 0 on success.
struct Cvm {
  explicit Cvm(const char* path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) throw qrt::Error(QRT_IO_ERROR, dlerror());
    find("CVMAPILoadModel", &load);
    find("CVMAPIInference", &infer);
    find("CVMAPIGetOutputLength", &output_length);
  }
  template <class F>
  void find(const char* name, F* function) {
    *function = reinterpret_cast<F>(dlsym(library, name));
    if (*function == nullptr) throw qrt::Error(QRT_IO_ERROR, dlerror());
  }

  void* library;
  int (*load)(const char* symbol, int symbol_bytes, const char* params, int params_bytes,
              void** net, int device_type, int device);
  int (*infer)(void* net, char* input, int bytes, char* output);
  int (*output_length)(void* net, unsigned long long* bytes);
};

void check(int status, const char* what) {
  if (status != 0) throw qrt::Error(QRT_INTERNAL, std::string("cvm-runtime failed: ") + what);
}

int compare(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: vs_cvm LIBCVM_RUNTIME.so SYMBOL PARAMS MODEL.qrt [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 5 ? std::max(1, atoi(argv[5])) : 5;
  setenv("OMP_NUM_THREADS", "1", 1);
  const Cvm cvm(argv[1]);
  const std::string symbol = read(argv[2]), params = read(argv[3]);
  void* net = nullptr;
  check(cvm.load(symbol.data(), static_cast<int>(symbol.size()), params.data(),
                 static_cast<int>(params.size()), &net, 0, 0),
        "loading");
  unsigned long long output_bytes = 0;
  check(cvm.output_length(net, &output_bytes), "output length");

  const qrt::Model model = qrt::Model::load_file(argv[4]);
  qrt::Session session(model);
  const qrt_tensor_info in = session.input_info(0), out = session.output_info(0);
  std::vector<char> input(in.bytes);
  uint32_t state = 1;
  for (char& c : input) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(static_cast<int>(state >> 24) - 128);
  }
  session.set_input_bytes(0, input.data(), input.size());
  std::vector<char> theirs(output_bytes), ours(out.bytes);

  double least_cvm = 0, least_qrt = 0;
  for (int round = 0; round < rounds; ++round) {
    double start = now_ms();
    check(cvm.infer(net, input.data(), static_cast<int>(input.size()), theirs.data()), "inference");
    double ms = now_ms() - start;
    least_cvm = round == 0 ? ms : std::min(least_cvm, ms);
    for (int i = 0; i < 20; ++i) {
      start = now_ms();
      session.run();
      ms = now_ms() - start;
      least_qrt = round == 0 && i == 0 ? ms : std::min(least_qrt, ms);
    }
  }
  session.get_output_bytes(0, ours.data(), ours.size());
  if (ours.size() != theirs.size())
    throw qrt::Error(QRT_INTERNAL, "the outputs have different sizes");
  size_t different = 0;
  for (size_t i = 0; i < ours.size(); ++i) different += ours[i] != theirs[i];
  printf(
      "cvm-runtime %.1f ms, qrt %.3f ms, ratio %.1f (least of %d and %d runs); %zu of %zu bytes "
      "differ\n",
      least_cvm, least_qrt, least_cvm / least_qrt, rounds, 20 * rounds, different, ours.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return compare(argc, argv);
  } catch (const std::exception& e) {
    fprintf(stderr, "vs_cvm: error: %s\n", e.what());
    return 5;
  }
}
