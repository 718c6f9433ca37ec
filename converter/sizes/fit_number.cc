// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/fit_number.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace qrt::convert {

void Terms::add(const Expression& expression, std::vector<int64_t> values) {
  const bool varies =
      std::any_of(values.begin(), values.end(), [&](int64_t x) { return x != values.front(); });
  if (varies && find(values) == nullptr) terms_.push_back({expression, std::move(values)});
}

const Term* Terms::find(const std::vector<int64_t>& values) const {
  for (const Term& v : terms_)
    if (v.values == values) return &v;
  return nullptr;
}

namespace {

// Returns the dimensions of the operator's inputs, then the symbols.
Terms terms_of(const Imports& imports) {
  Terms found;
  const auto add = [&](const Expression& expression) {
    std::vector<int64_t> values;
    for (const SizesAt& at : imports.at) values.push_back(evaluate(expression, at));
    found.add(expression, std::move(values));
  };
  const SizesAt& first = imports.at.front();
  for (size_t i = 0; i < first.inputs.size(); ++i)
    for (int d = 0; d < first.inputs[i].rank(); ++d) {
      const bool has_all = std::all_of(
          imports.at.begin(), imports.at.end(),
          [&](const SizesAt& at) { return i < at.inputs.size() && d < at.inputs[i].rank(); });
      if (has_all) add(Expression::dimension(i, d));
    }
  for (const Term& v : imports.terms) found.add(v.expression, v.values);
  for (size_t s = 0; s < first.symbols.size(); ++s) add(Expression::symbol(s));
  return found;
}

constexpr int64_t kMostDivisor = 64, kMostFactor = 64;

class Fit {
 public:
  Fit(const Imports& imports, const std::vector<int64_t>& values)
      : imports_(imports), values_(values), terms_(terms_of(imports)) {}

  std::optional<Expression> run() {
    // Two or three different numbers are given by many an expression by chance, so only differences
    // and remainders are accepted for them.
    const bool are_few = std::set<int64_t>(values_.begin(), values_.end()).size() <= 3;
    if (are_few) {
      if (try_one(Expression(values_.front())) || try_each(&Fit::try_shifted) || try_others() ||
          try_each(&Fit::try_rest))
        return found_;
      return std::nullopt;
    }
    if (try_one(Expression(values_.front())) || try_each(&Fit::try_shifted) || try_other() ||
        try_each(&Fit::try_multiple) || try_each(&Fit::try_small_quotient) ||
        try_quotients_of_others() || try_each(&Fit::try_large_quotient) || try_others() ||
        try_each(&Fit::try_rest) || try_sums() || try_products() || try_each(&Fit::try_scaled) ||
        try_sums_of_products())
      return found_;
    return std::nullopt;
  }

 private:
  bool try_one(const Expression& e) {
    if (!fits(e, imports_, values_)) return false;
    found_ = e;
    return true;
  }

  bool try_each(bool (Fit::*attempt)(const Expression&)) {
    return std::any_of(terms_.begin(), terms_.end(),
                       [&](const Term& v) { return (this->*attempt)(v.expression); });
  }

  // e + c
  bool try_shifted(const Expression& e) {
    const int64_t at = evaluate(e, imports_.at.front());
    if (at == INT64_MIN) return false;
    const int64_t c = values_.front() - at;
    if (c > INT32_MAX || c < -INT32_MAX) return false;
    return try_one(c < 0 ? e - Expression(-c) : e + Expression(c));
  }

  // e * a + c
  bool try_multiple(const Expression& e) {
    for (int64_t a = 2; a <= kMostFactor; ++a)
      if (try_shifted(e * Expression(a))) return true;
    return try_shifted(Expression(0) - e);
  }

  // Returns whether quotients by d may be meant.
  bool may_divide(int64_t d) const { return !imports_.rounds_floats || (d & (d - 1)) == 0; }

  // floor((e + b) / d) + c
  bool try_quotient(const Expression& e, int64_t least, int64_t most) {
    for (int64_t d = least; d <= most; ++d) {
      if (!may_divide(d)) continue;
      for (int64_t b = 0; b < d; ++b)
        if (try_shifted((e + Expression(b)) / Expression(d))) return true;
    }
    return false;
  }

  // Quotients by small numbers are meant before those by large ones, many of which fit by chance.
  static constexpr int64_t kSmallDivisor = 8;
  bool try_small_quotient(const Expression& e) { return try_quotient(e, 2, kSmallDivisor); }
  bool try_large_quotient(const Expression& e) {
    return try_quotient(e, kSmallDivisor + 1, kMostDivisor);
  }

  // Quotients of another tensor's dimension, as strides make them.
  bool try_quotients_of_others() {
    constexpr int64_t kMostStride = 4;
    return imports_.others != nullptr &&
           std::any_of(imports_.others->begin(), imports_.others->end(),
                       [&](const Term& v) { return try_quotient(v.expression, 2, kMostStride); });
  }

  // Tries multiples of a quotient, its remainder, and what is missing to the next multiple; halves of these.
  bool try_rest(const Expression& e) {
    for (const int64_t k : {1, 2, 4, 8, 16})
      for (const int64_t b : {int64_t{0}, k - 1}) {
        if (b > 0 && k == 1) continue;
        const Expression n = (e + Expression(b)) / Expression(k);
        for (int64_t d = 2; d <= kMostDivisor; d = d < 8 ? d + 1 : d * 2) {
          if (!may_divide(d)) continue;
          const Expression down = n / Expression(d) * Expression(d);
          const Expression up = (n + Expression(d - 1)) / Expression(d) * Expression(d);
          for (const Expression& form : {down, up, n - down, up - n}) {
            if (try_shifted(form)) return true;
            for (const int64_t half : {0, 1})
              if (try_shifted((form + Expression(half)) / Expression(2))) return true;
          }
        }
      }
    return false;
  }

  // Tries the dimensions of other tensors, as they are.
  bool try_other() {
    const Term* v = imports_.others == nullptr ? nullptr : imports_.others->find(values_);
    return v != nullptr && try_one(v->expression);
  }

  bool try_others() {
    if (imports_.others == nullptr) return false;
    for (const Term& v : *imports_.others)
      if (try_shifted(v.expression)) return true;
    // Tries the negated dimensions, too, which occur where a table is cut around its middle.
    for (const Term& v : *imports_.others)
      if (try_shifted(Expression(0) - v.expression)) return true;
    for (const Term& v : *imports_.others)
      for (const Term& w : *imports_.others) {
        if (&v == &w || !may_be_difference(v, w)) continue;
        const Expression difference = v.expression - w.expression;
        if (try_shifted(difference)) return true;
        for (const int64_t half : {0, 1})
          if (try_shifted((difference + Expression(half)) / Expression(2))) return true;
      }
    return false;
  }

  // Returns whether the numbers sought may be v - w or (v - w) / 2, plus a constant, by the first and the last
  // import alone.
  bool may_be_difference(const Term& v, const Term& w) const {
    const size_t last = values_.size() - 1;
    const int64_t first = v.values[0] - w.values[0], end = v.values[last] - w.values[last];
    const int64_t by = values_[last] - values_[0], d = end - first;
    return d == by || (d - 2 * by <= 1 && d - 2 * by >= -1);
  }

  bool try_sums() {
    for (const Term& v : terms_)
      for (const Term& w : terms_) {
        if (try_shifted(v.expression + w.expression)) return true;
        if (&v != &w && try_shifted(v.expression - w.expression)) return true;
      }
    return false;
  }

  // Tries v * w * a / d and v * w * u * a / d, where the division leaves no remainder.
  bool try_products() {
    const size_t n = terms_.size();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i; j < n; ++j)
        if (try_ratio(terms_[i].expression * terms_[j].expression)) return true;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i + 1; j < n; ++j)
        for (size_t k = j + 1; k < n; ++k)
          if (try_ratio(terms_[i].expression * terms_[j].expression * terms_[k].expression))
            return true;
    return false;
  }

  // Sums of two or three dimensions of other tensors, as of what is concatenated.
  bool try_sums_of_products() {
    if (imports_.others == nullptr) return false;
    const Terms& all = *imports_.others;
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i; j < all.size(); ++j) {
        if (try_shifted(all[i].expression + all[j].expression)) return true;
        std::vector<int64_t> rest;
        for (size_t p = 0; p < values_.size(); ++p)
          rest.push_back(values_[p] - all[i].values[p] - all[j].values[p]);
        const Term* third = all.find(rest);
        if (third && try_one(all[i].expression + all[j].expression + third->expression))
          return true;
      }
    return false;
  }

  // Tries floor((e * a + b) / d) + c with small a and d.
  bool try_scaled(const Expression& e) {
    constexpr int64_t kMostTerm = 8;
    for (int64_t d = 2; d <= kMostTerm; ++d)
      for (int64_t a = 2; a <= kMostTerm; ++a) {
        if (std::gcd(a, d) != 1 || !may_divide(d)) continue;
        for (int64_t b = 0; b < d; ++b)
          if (try_shifted((e * Expression(a) + Expression(b)) / Expression(d))) return true;
      }
    return false;
  }

  bool try_ratio(const Expression& e) {
    const int64_t at = evaluate(e, imports_.at.front()), value = values_.front();
    if (at <= 0 || value <= 0) return false;
    const int64_t common = std::gcd(at, value), a = value / common, d = at / common;
    // A ratio of large numbers is a coincidence.
    if (a > kMostFactor * kMostFactor || d > kMostDivisor * kMostDivisor) return false;
    return try_one(e * Expression(a) / Expression(d));
  }

  const Imports& imports_;
  const std::vector<int64_t>& values_;
  const Terms terms_;
  Expression found_;
};

}  // namespace

bool fits(const Expression& expression, const Imports& imports,
          const std::vector<int64_t>& values) {
  if (expression.stored().functions.size() > kMostSteps) return false;
  for (size_t i = 0; i < imports.size(); ++i)
    if (evaluate(expression, imports.at[i]) != values[i]) return false;
  return true;
}

std::optional<Expression> fit_number(const Imports& imports, const std::vector<int64_t>& values) {
  return Fit(imports, values).run();
}

}  // namespace qrt::convert
