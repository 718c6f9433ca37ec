// SPDX-License-Identifier: Apache-2.0
// Sampling of the peak loops, and of the memory hierarchy.
#include "bench/peak.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "bench/peak_loops.h"

namespace qrt::bench {
namespace {

// Multiplies and adds in independent dependency chains, which the compiler may not turn into vectors.
void multiply_add(uint64_t steps) {
  int32_t a = 3, b = 5, c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  const auto step = [&](int32_t& c) {
    __asm__ volatile("" : "+r"(a), "+r"(b));
    c += a * b;
    __asm__ volatile("" : "+r"(c));
  };
  for (; steps > 0; --steps) step(c0), step(c1), step(c2), step(c3);
}

constexpr VectorLoop kScalarLoop = {"multiply_add_32", false, 4, multiply_add};

// The loops of the table of instruction sets, in its order.
struct NamedLoops {
  Isa isa;
  const char* names;  // separated by spaces, the fastest first
};
constexpr NamedLoops kNamedLoops[] = {
#define QRT_ISA(architecture, Name, suffix, base, flags, peak, ...) {Isa::k##Name, peak},
#include "kernels/isa.inc"
};

// Appends the loops of a set that this build has.
void append_loops(const NamedLoops& set, std::vector<PeakLoop>* loops) {
  size_t count;
  const VectorLoop* vectors = vector_loops(&count);
  std::vector<VectorLoop> all(vectors, vectors + count);
  all.push_back(kScalarLoop);
  std::istringstream names(set.names);
  for (std::string name; names >> name;) {
    for (const VectorLoop& loop : all)
      if (name == loop.name)
        loops->push_back({loop.name, set.isa, loop.pairs, loop.macs, loop.run});
  }
}

// Reads a size, "48K", "2048K", "260M"; 0 if there is no such file.
size_t read_size(const std::string& path) {
  std::ifstream file(path);
  size_t value = 0;
  char unit = 0;
  file >> value >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

std::string read_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

struct Cache {
  const char* name;
  size_t bytes;
};

// Returns the data and unified caches of this thread's core, the smallest first.
std::vector<Cache> caches() {
  static const char* const kNames[] = {"L1", "L2", "L3", "L4"};
  std::vector<Cache> found;
  const int cpu = std::max(sched_getcpu(), 0);
  const std::string base = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string index = base + std::to_string(i);
    const std::string level = read_word(index + "/level");
    const size_t bytes = read_size(index + "/size");
    if (level < "1" || level > "4" || bytes == 0) continue;
    if (read_word(index + "/type") == "Instruction") continue;
    found.push_back({kNames[level[0] - '1'], bytes});
  }
  if (found.empty()) found = {{"L1", size_t{32} << 10}, {"L2", size_t{1} << 20}};
  std::sort(found.begin(), found.end(),
            [](const Cache& a, const Cache& b) { return a.bytes < b.bytes; });
  return found;
}

struct Free {
  void operator()(uint8_t* p) const { free(p); }
};
using Area = std::unique_ptr<uint8_t, Free>;

constexpr size_t kPass = 512;  // bytes of one pass of the loops

Area make_area(size_t bytes) {
  Area area(static_cast<uint8_t*>(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
  if (area != nullptr) memset(area.get(), 1, bytes);
  return area;
}

constexpr size_t kSampleBytes = size_t{4} << 20;  // at least: reading the clock takes time

// Returns GB/s of one sample of run(), which moves `bytes`.
template <class Run>
double sample_gbs(size_t bytes, const Run& run) {
  const size_t passes = (kSampleBytes + bytes - 1) / bytes;
  const double start = thread_ns();
  for (size_t i = 0; i < passes; ++i) run();
  return static_cast<double>(bytes * passes) / (thread_ns() - start);
}

// Returns the best of several samples: what the hardware can do, whatever else ran meanwhile.
template <class Run>
double best_gbs(size_t bytes, const Run& run) {
  double best = 0;
  run();
  const double start = thread_ns();
  for (int i = 0; i < 3 || (i < 1000 && (thread_ns() - start) < 40e6); ++i)
    best = std::max(best, sample_gbs(bytes, run));
  return best;
}

}  // namespace

const PeakLoop* peak_loops(size_t* count) {
  static const std::vector<PeakLoop> all = [] {
    std::vector<PeakLoop> loops;
    for (size_t i = std::size(kNamedLoops); i-- > 0;) append_loops(kNamedLoops[i], &loops);
    return loops;
  }();
  *count = all.size();
  return all.data();
}

const PeakLoop& peak_loop(Isa isa, bool pairs) {
  size_t count;
  const PeakLoop* loops = peak_loops(&count);
  for (size_t i = 0; i + 1 < count; ++i)
    if (loops[i].isa <= isa && (pairs || !loops[i].pairs)) return loops[i];
  return loops[count - 1];
}

const PeakLoop& peak_loop_of_kernel(const std::string& kernel, Isa fallback) {
  const size_t at = kernel.rfind('_');
  Isa isa;
  if (at == std::string::npos || !parse_isa(kernel.c_str() + at + 1, &isa)) isa = fallback;
  return peak_loop(isa, kernel.find("_pairs_") != std::string::npos);
}

double sample_gmacs(const PeakLoop& loop) {
  constexpr uint64_t kSteps = 16384;
  // Warms up: code that ran before may have taken the loop's and the clock's out of the caches. A
  // tenth of a sample.
  thread_ns();
  loop.run(kSteps / 16);
  const double start = thread_ns();
  loop.run(kSteps);
  return static_cast<double>(kSteps * loop.macs) / (thread_ns() - start);
}

double measure_gmacs(const PeakLoop& loop, int samples) {
  std::vector<double> rates;
  for (int i = 0; i < samples; ++i) rates.push_back(sample_gmacs(loop));
  return median(std::move(rates));
}

std::vector<MemoryLevel> measure_memory() {
  const std::vector<Cache> found = caches();
  std::vector<MemoryLevel> levels;
  for (size_t i = 0; i < found.size(); ++i) {
    // Half of a cache: the rest is for what else is in it. A last level may be a hundred times the
    // one below and shared by many cores: a few times the one below is read there.
    size_t bytes = found[i].bytes / 2;
    if (i > 0) bytes = std::min(bytes, found[i - 1].bytes * 16);
    levels.push_back({found[i].name, found[i].bytes, bytes, 0, 0});
  }
  // Beyond the last cache, within reason.
  const size_t last = found.back().bytes;
  levels.push_back({"memory", SIZE_MAX,
                    std::min(std::max(size_t{2} * last, size_t{64} << 20), size_t{512} << 20), 0,
                    0});
  const size_t largest = levels.back().measured;
  const Area area = make_area(largest);
  for (MemoryLevel& level : levels) {
    if (area == nullptr) break;
    const size_t bytes = level.measured / (2 * kPass) * (2 * kPass);
    uint8_t* p = area.get();
    level.read_gbs = best_gbs(bytes, [&] { read_bytes(p, bytes); });
    level.copy_gbs = best_gbs(bytes, [&] { copy_bytes(p + bytes / 2, p, bytes / 2); });
  }
  return levels;
}

const MemoryLevel& level_of(const std::vector<MemoryLevel>& levels, uint64_t bytes) {
  for (const MemoryLevel& level : levels)
    if (bytes <= level.capacity) return level;
  return levels.back();
}

double sample_copy_gbs(uint8_t* area, size_t bytes) {
  const size_t half = std::max(bytes / 2 / kPass, size_t{1}) * kPass;
  const auto run = [&] { copy_bytes(area + half, area, half); };
  run();
  return sample_gbs(2 * half, run);
}

double thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace qrt::bench
