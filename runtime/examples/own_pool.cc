// SPDX-License-Identifier: Apache-2.0
// An application with a thread pool of its own: sessions run on its threads, and qrt starts none.
//
//     own_pool MODEL.qrt INPUTS THREADS
//
// As classify_cc. (Applications without a pool share one of qrt's between their sessions: qrt::Pool.)
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <mutex>
#include <qrt/qrt.hpp>
#include <thread>
#include <vector>

// Stands for the application's: run(f, n) calls f(0) ... f(n - 1) on its threads and the calling one.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) {
    for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  void run(const std::function<void(std::size_t)>& f, std::size_t n) {
    std::unique_lock<std::mutex> lock(mutex_);
    f_ = &f;
    next_ = 0;
    count_ = n;
    changed_.notify_all();
    take(&lock);
    done_.wait(lock, [this] { return busy_ == 0; });
    f_ = nullptr;
  }

 private:
  void take(std::unique_lock<std::mutex>* lock) {
    ++busy_;
    while (next_ < count_) {
      const std::size_t i = next_++;
      const std::function<void(std::size_t)>& f = *f_;
      lock->unlock();
      f(i);
      lock->lock();
    }
    if (--busy_ == 0) done_.notify_all();
  }
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || (f_ != nullptr && next_ < count_); });
      if (is_over_) return;
      take(&lock);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, done_;
  const std::function<void(std::size_t)>* f_ = nullptr;
  std::size_t next_ = 0, count_ = 0, busy_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: own_pool MODEL.qrt INPUTS THREADS\n";
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t threads = std::max(1, std::atoi(argv[3]));
  ThreadPool pool(threads);

  const qrt::Model model = qrt::Model::load_file(argv[1]);
  qrt::SessionOptions options;
  const std::size_t image_bytes =
      model.input_info(0).bytes / std::max<std::size_t>(model.info().default_batch, 1);
  if (image_bytes == 0 || bytes.size() < image_bytes) {
    std::cerr << argv[2] << ": " << bytes.size() << " bytes, of images of " << image_bytes << "\n";
    return 1;
  }
  options.batch = bytes.size() / image_bytes;
  options.threads = threads;
  options.parallel_context = &pool;
  options.parallel = [](void* context, void (*task)(void*, std::size_t), void* argument,
                        std::size_t count) {
    static_cast<ThreadPool*>(context)->run([&](std::size_t i) { task(argument, i); }, count);
  };
  qrt::Session session(model, options);
  session.set_input_bytes(0, bytes.data(), bytes.size());
  session.run();

  const qrt::Span<const float> scores = session.output<float>(0);
  const std::size_t classes = scores.size() / options.batch;
  for (const float* row = scores.begin(); classes > 0 && row != scores.end(); row += classes)
    std::cout << std::max_element(row, row + classes) - row << "\n";
  return 0;
} catch (const qrt::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
