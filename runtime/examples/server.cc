// SPDX-License-Identifier: Apache-2.0
// A server in small: one model, and a session for each worker thread, as many as a budget of memory has
// room for.
//
//     server MODEL.qrt INPUTS WORKERS BYTES
//
// As classify_cc, but each image is a request of its own, which the first free worker answers.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <qrt/qrt.hpp>
#include <thread>
#include <vector>

namespace {

struct Requests {
  std::vector<char> inputs;
  std::size_t input_bytes;
  std::atomic<std::size_t> next{0};
  std::vector<std::size_t> answers;
};

// Serves requests. A session is for one thread at a time; the model is for all.
void serve(const qrt::Model& model, const qrt::SessionOptions& options, Requests* requests) {
  qrt::Session session(model, options);
  for (std::size_t i; (i = requests->next++) < requests->answers.size();) {
    session.set_input_bytes(0, requests->inputs.data() + i * requests->input_bytes,
                            requests->input_bytes);
    session.run();
    const qrt::Span<const float> scores = session.output<float>(0);
    requests->answers[i] =
        static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: server MODEL.qrt INPUTS WORKERS BYTES\n";
    return 2;
  }
  const std::size_t budget = std::strtoull(argv[4], nullptr, 10);
  const qrt::Model model = qrt::Model::load_file(argv[1]);
  qrt::SessionOptions options;
  options.batch = 1;
  const std::size_t needed = qrt::Session::needed_memory(model, options).memory;
  const std::size_t workers =
      std::min<std::size_t>(std::strtoull(argv[3], nullptr, 10), budget / needed);
  if (workers == 0) {
    std::cerr << "a session takes " << needed << " bytes, and there are " << budget << "\n";
    return 1;
  }
  options.max_memory = budget / workers;  // more than `needed`: no surprise is left for later

  Requests requests;
  std::ifstream file(argv[2], std::ios::binary);
  requests.inputs.assign(std::istreambuf_iterator<char>(file), {});
  requests.input_bytes =
      model.input_info(0).bytes / std::max<std::size_t>(model.info().default_batch, 1);
  if (requests.input_bytes == 0) {
    std::cerr << argv[1] << ": its input has no elements\n";
    return 1;
  }
  requests.answers.resize(requests.inputs.size() / requests.input_bytes);

  std::vector<std::exception_ptr> errors(workers);
  std::vector<std::thread> threads;
  for (std::exception_ptr& error : errors)
    threads.emplace_back([&] {
      try {
        serve(model, options, &requests);
      } catch (...) {
        error = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  for (const std::size_t answer : requests.answers) std::cout << answer << "\n";
  std::cerr << workers << " workers, " << needed << " bytes each\n";
  return 0;
} catch (const qrt::Error& error) {  // status(): QRT_OUT_OF_MEMORY, QRT_INVALID_MODEL ...
  std::cerr << qrt_status_name(error.status()) << ": " << error.what() << "\n";
  return 1;
}
