// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/run/show.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "runtime/text.h"
#include "runtime/tools/budget.h"
#include "runtime/tools/elements.h"
#include "runtime/tools/files.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/model_file.h"

namespace qrt::tool {
namespace {

constexpr size_t kColumns = 80;

size_t count_of(const qrt_tensor_info& info) {
  size_t n = 1;
  for (int i = 0; i < info.rank; ++i) n *= static_cast<size_t>(info.dims[i]);
  return n;
}

// "[2, 0, *]", the place of a row.
std::string row_text(const qrt_tensor_info& info, size_t row) {
  std::string text = "*]";
  for (int d = info.rank - 2; d >= 0; --d) {
    const size_t n = static_cast<size_t>(info.dims[d]);
    text = std::to_string(row % n) + ", " + text;
    row /= n;
  }
  return "[" + text;
}

// The texts of elements: as they are, or as the real numbers that quantised ones stand for.
class Texts {
 public:
  Texts(const qrt_tensor_info& info, const Elements& elements, bool dequantizes)
      : elements_(elements), q_(*info.quantization), is_real_(dequantizes && q_.count > 0) {
    for (int d = q_.axis + 1; q_.count > 1 && d < info.rank; ++d)
      stride_ *= static_cast<size_t>(info.dims[d]);
  }

  std::string of(size_t i) const {
    if (!is_real_) return elements_.text(i);
    const size_t channel = i / stride_ % q_.count;
    const double real =
        (elements_.value(i) - q_.zero_point[channel]) * static_cast<double>(q_.scale[channel]);
    char text[32];
    snprintf(text, sizeof text, "%.9g", real);
    return text;
  }

 private:
  const Elements& elements_;
  const qrt_quantization q_;
  const bool is_real_;
  size_t stride_ = 1;  // elements of one index of the axis
};

}  // namespace

void print_digest(const std::string& label, const qrt_tensor_info& info, const void* data,
                  bool with_sha256) {
  Fnv1a fnv1a;
  if (!with_sha256) fnv1a.add(data, info.bytes);
  const std::string digest =
      with_sha256 ? "sha256:" + sha256(data, info.bytes) : "fnv1a:" + fnv1a.text();
  printf("%s '%s' %s %s\n", label.c_str(), escaped(info.name).c_str(), type_text(info).c_str(),
         digest.c_str());
}

void print_elements(const qrt_tensor_info& info, const void* data, size_t count, bool dequantizes) {
  const Elements elements(static_cast<DType>(info.dtype), data, count_of(info));
  const Texts texts(info, elements, dequantizes);
  const size_t all = count_of(info), shown = std::min(count, all);
  std::string line = " ";
  for (size_t i = 0; i < shown; ++i) {
    const std::string text = texts.of(i);
    if (line.size() > 1 && line.size() + 1 + text.size() > kColumns) {
      puts(line.c_str());
      line = " ";
    }
    line += " " + text;
  }
  puts((line + (shown < all ? " ..." : "")).c_str());
}

void print_greatest(const qrt_tensor_info& info, const void* data, size_t count,
                    const std::vector<std::string>& labels, bool dequantizes) {
  const Elements elements(static_cast<DType>(info.dtype), data, count_of(info));
  const Texts texts(info, elements, dequantizes);
  const size_t row_size = info.rank == 0 ? 1 : static_cast<size_t>(info.dims[info.rank - 1]);
  const size_t rows = count_of(info) / row_size;
  std::vector<size_t> order(row_size);
  for (size_t row = 0; row < rows; ++row) {
    if (rows > 1) printf("  %s\n", row_text(info, row).c_str());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto before = [&](size_t a, size_t b) {
      const double x = elements.value(row * row_size + a), y = elements.value(row * row_size + b);
      const bool x_is_nan = x != x, y_is_nan = y != y;  // they come last
      if (x_is_nan != y_is_nan) return y_is_nan;
      return x > y || (!(x < y) && a < b);
    };
    const size_t shown = std::min(count, row_size);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                      before);
    for (size_t i = 0; i < shown; ++i) {
      const std::string value = texts.of(row * row_size + order[i]);
      if (labels.empty())
        printf("  %2zu. %5zu  %s\n", i + 1, order[i], value.c_str());
      else
        printf("  %2zu. %5zu  %-14s %s\n", i + 1, order[i], value.c_str(),
               escaped(labels[order[i]]).c_str());
    }
  }
}

Status read_lines(const std::string& path, std::vector<std::string>* lines) {
  QRT_TRY(check_readable(path));
  std::string text;
  QRT_TRY(read_text(path, &text));
  // A line of one character becomes a string of its own.
  const size_t count = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  Budget budget(text.size());
  QRT_TRY(budget.reserve(text.size() + count * sizeof(std::string)).at(path));
  lines->reserve(count);
  std::istringstream file(text);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines->push_back(line);
  }
  if (lines->empty()) return error(Code::kInvalidModel, "%s: holds no lines", path.c_str());
  return {};
}

}  // namespace qrt::tool
