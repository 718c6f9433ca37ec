#include "converter/sizes/fit_number.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qrt::convert {
namespace {

// A dimension or symbol that differs from import to import.
struct Variable {
  Expression expression;
  std::vector<int64_t> values;  // by import
};

// Variables of equal values are one: the dimensions of the operator's inputs come first, the symbols last.
std::vector<Variable> variables_of(const Imports& imports) {
  std::vector<Variable> found;
  const auto add = [&](const Expression& expression) {
    Variable v{expression, {}};
    for (const SizesAt& at : imports) v.values.push_back(evaluate(expression, at));
    const auto is_equal = [&](const Variable& other) { return other.values == v.values; };
    const bool varies = std::any_of(v.values.begin(), v.values.end(),
                                    [&](int64_t x) { return x != v.values.front(); });
    if (varies && std::none_of(found.begin(), found.end(), is_equal)) found.push_back(std::move(v));
  };
  const SizesAt& first = imports.front();
  for (size_t i = 0; i < first.inputs.size(); ++i)
    for (int d = 0; d < first.inputs[i].rank(); ++d) {
      const bool has_all = std::all_of(imports.begin(), imports.end(), [&](const SizesAt& at) {
        return i < at.inputs.size() && d < at.inputs[i].rank();
      });
      if (has_all) add(Expression::dimension(i, d));
    }
  for (size_t s = 0; s < first.symbols.size(); ++s) add(Expression::symbol(s));
  return found;
}

constexpr int64_t kMostDivisor = 64;

class Fit {
 public:
  Fit(const Imports& imports, const std::vector<int64_t>& values)
      : imports_(imports), values_(values), variables_(variables_of(imports)) {}

  std::optional<Expression> run() {
    if (try_one(Expression(values_.front()))) return found_;
    for (const Variable& v : variables_)
      if (try_shifted(v.expression)) return found_;
    for (const Variable& v : variables_)
      if (try_scaled(v)) return found_;
    for (const Variable& v : variables_)
      for (const Variable& w : variables_) {
        if (try_shifted(v.expression + w.expression)) return found_;
        if (try_shifted(v.expression - w.expression)) return found_;
      }
    if (try_products()) return found_;
    return std::nullopt;
  }

 private:
  bool try_one(const Expression& e) {
    if (!fits(e, imports_, values_)) return false;
    found_ = e;
    return true;
  }

  // e + c
  bool try_shifted(const Expression& e) {
    const int64_t at = evaluate(e, imports_.front());
    if (at == INT64_MIN) return false;
    const int64_t c = values_.front() - at;
    if (c > INT32_MAX || c < INT32_MIN) return false;
    return try_one(c < 0 ? e - Expression(-c) : e + Expression(c));
  }

  // floor((v * a + b) / d) * m + c, of m = 1 or d
  bool try_scaled(const Variable& v) {
    // The slope, from the imports furthest apart.
    const auto [low, high] = std::minmax_element(v.values.begin(), v.values.end());
    const auto i = static_cast<size_t>(low - v.values.begin());
    const auto j = static_cast<size_t>(high - v.values.begin());
    const int64_t dx = v.values[j] - v.values[i], dy = values_[j] - values_[i];
    if (dx == 0) return false;
    const double slope = static_cast<double>(dy) / static_cast<double>(dx);
    for (int64_t d = 1; d <= kMostDivisor; ++d) {
      const auto a = static_cast<int64_t>(std::llround(slope * static_cast<double>(d)));
      if (a == 0 || std::gcd(a, d) != 1 || a > kMostDivisor * kMostDivisor || a < -kMostDivisor)
        continue;
      const Expression scaled = a == 1 ? v.expression : v.expression * Expression(a);
      if (d == 1) {
        if (try_shifted(scaled)) return true;
        continue;
      }
      for (int64_t b = 0; b < d; ++b)
        if (try_shifted((scaled + Expression(b)) / Expression(d))) return true;
    }
    // Rounded down to a multiple.
    for (int64_t d = 2; d <= kMostDivisor; ++d)
      for (int64_t b = 0; b < d; ++b)
        if (try_shifted((v.expression + Expression(b)) / Expression(d) * Expression(d))) return true;
    return false;
  }

  // (v * w) * a / d and (v * w * u) * a / d, without a rest
  bool try_products() {
    const size_t n = variables_.size();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i; j < n; ++j) {
        const Expression two = variables_[i].expression * variables_[j].expression;
        if (try_ratio(two)) return true;
      }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i + 1; j < n; ++j)
        for (size_t k = j + 1; k < n; ++k) {
          const Expression three = variables_[i].expression * variables_[j].expression *
                                   variables_[k].expression;
          if (try_ratio(three)) return true;
        }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i; j < n; ++j)
        if (try_shifted(variables_[i].expression * variables_[j].expression)) return true;
    return false;
  }

  bool try_ratio(const Expression& e) {
    const int64_t at = evaluate(e, imports_.front()), value = values_.front();
    if (at <= 0 || value <= 0) return false;
    const int64_t common = std::gcd(at, value), a = value / common, d = at / common;
    if (a > INT32_MAX || d > INT32_MAX) return false;
    // A ratio of large numbers is a coincidence.
    if (a > kMostDivisor * kMostDivisor * kMostDivisor || d > kMostDivisor * kMostDivisor) return false;
    return try_one(e * Expression(a) / Expression(d));
  }

  const Imports& imports_;
  const std::vector<int64_t>& values_;
  const std::vector<Variable> variables_;
  Expression found_;
};

}  // namespace

bool fits(const Expression& expression, const Imports& imports,
          const std::vector<int64_t>& values) {
  for (size_t i = 0; i < imports.size(); ++i)
    if (evaluate(expression, imports[i]) != values[i]) return false;
  return true;
}

std::optional<Expression> fit_number(const Imports& imports, const std::vector<int64_t>& values) {
  return Fit(imports, values).run();
}

}  // namespace qrt::convert
