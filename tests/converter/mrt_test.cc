// SPDX-License-Identifier: Apache-2.0
// MRT's formulas against worked examples in exact arithmetic, number by number
// (mrt/worked_examples.json; "a/b" is a rational number).
#include "converter/quantize/mrt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace qrt::mrt::mrt_test {
namespace {

using Json = nlohmann::json;

double real(const Json& v) {
  if (v.is_number()) return v.get<double>();
  const auto text = v.get<std::string>();
  return std::stod(text) / std::stod(text.substr(text.find('/') + 1));
}

Json example(int id) {
  std::ifstream in(QRT_TESTS_DIR "/converter/mrt/worked_examples.json");
  for (const Json& e : Json::parse(in))
    if (e["id"] == id) return e;
  ADD_FAILURE() << "no example " << id;
  return Json();
}

// Returns x * 2^-shift as CVM's shift operators do it: half up, clipped.
int32_t shifted(int64_t x, int shift, int precision) {
  return clip(shift > 0 ? (x + (int64_t{1} << (shift - 1))) >> shift : x * (int64_t{1} << -shift),
              precision);
}

TEST(Mrt, SymmetricQuantisation) {
  EXPECT_EQ(symmetric_scale(real(example(1)["in"]["max_abs"]), 8), 32);
  const Json e = example(2);
  for (size_t i = 0; i < e["in"]["x"].size(); ++i)
    EXPECT_EQ(quantize(real(e["in"]["x"][i]), 32, 8), e["out"]["mrt"][i].get<int>());
  const Json limits = example(5);
  for (size_t i = 0; i < limits["in"]["v"].size(); ++i)
    EXPECT_EQ(quantize(real(limits["in"]["v"][i]), 1, 8), limits["out"]["q"][i].get<int>());
  EXPECT_EQ(quantize(-3.25, symmetric_scale(3.25, 8), 8), example(4)["out"]["mrt"].get<int>());
}

TEST(Mrt, CvmFloat) {
  for (const int id : {6, 7}) {
    const Json e = example(id);
    for (size_t i = 0; i < e["in"]["x_bits"].size(); ++i) {
      const Json& x = e["in"]["x_bits"][i];
      const Factor f = cvm_float(real(x[0]), x[1].get<int>());
      EXPECT_EQ(Json({f.frac, f.exponent}), e["out"]["frac_e"][i]) << x;
    }
  }
}

TEST(Mrt, BackToRealNumbers) {
  const Json e = example(3);
  for (size_t i = 0; i < e["in"]["xq"].size(); ++i)
    EXPECT_EQ(quantize(real(e["out"]["xr"][i]), 32, 8), e["in"]["xq"][i].get<int>());
}

TEST(Mrt, FactorAndShift) {
  const Json e = example(10), &in = e["in"];
  const double in_scale = in["iscale"].get<int>(), out_scale = real(in["oscale"]);
  const Factor f = cvm_float(out_scale / in_scale, 32 - in["iprec"].get<int>());
  EXPECT_EQ(f.frac, e["out"]["frac"].get<int>());
  EXPECT_EQ(f.exponent, e["out"]["e"].get<int>());
  EXPECT_EQ(std::ldexp(in_scale * f.frac, f.exponent), real(e["out"]["new_scale"]));
  for (size_t i = 0; i < in["xq"].size(); ++i)
    EXPECT_EQ(shifted(f.frac * in["xq"][i].get<int>(), -f.exponent, 8),
              e["out"]["xqn"][i].get<int>());
}

TEST(Mrt, DotProduct) {
  const Json e = example(13), &in = e["in"];
  int sum = 0;
  for (size_t i = 0; i < in["xq"].size(); ++i)
    sum += in["xq"][i].get<int>() * in["wq"][i].get<int>();
  EXPECT_EQ(sum, e["out"]["sum"].get<int>());
  const Factor f = cvm_float(real(in["sc_y"]) / (real(in["sc_x"]) * real(in["sc_w"])), 32 - 18);
  EXPECT_EQ(f.frac, e["out"]["frac"].get<int>());
  EXPECT_EQ(f.exponent, e["out"]["e"].get<int>());
  EXPECT_EQ(shifted(f.frac * sum, -f.exponent, 8),
            e["out"]["yq_by_frac_shift_iprec_18"].get<int>());
}

TEST(Mrt, AScaleForEachChannel) {
  const Json e = example(14), &in = e["in"], &out = e["out"];
  for (size_t c = 0; c < in["W"].size(); ++c) {
    double most = 0;
    for (const Json& w : in["W"][c]) most = std::max(most, std::abs(real(w)));
    const double scale = symmetric_scale(most, 8);
    EXPECT_EQ(scale, real(out["scales"][c]));
    for (size_t i = 0; i < in["W"][c].size(); ++i)
      EXPECT_EQ(quantize(real(in["W"][c][i]), scale, 8), out["wq"][c][i].get<int>());
    const Factor f = cvm_float(real(in["sc_y"]) / (real(in["sc_x"]) * scale), 16);
    EXPECT_EQ(Json({f.frac, f.exponent}), out["frac_e"][c]);
    EXPECT_EQ(shifted(f.frac * in["acc"][c].get<int>(), -f.exponent, 8), out["yq"][c].get<int>());
  }
}

TEST(Mrt, Addition) {
  const Json e = example(23), &in = e["in"], &out = e["out"];
  const double common = symmetric_scale(real(in["threshold"]), 16);
  EXPECT_EQ(common, real(out["common_scale"]));
  const Factor a = cvm_float(common / real(in["scale_a"]), 16),
               b = cvm_float(common / real(in["scale_b"]), 16);
  EXPECT_EQ(Json({a.frac, a.exponent}), out["frac_e_a"]);
  EXPECT_EQ(Json({b.frac, b.exponent}), out["frac_e_b"]);
  for (size_t i = 0; i < in["a"].size(); ++i) {
    const int x = shifted(a.frac * in["a"][i].get<int>(), -a.exponent, 16);
    const int y = shifted(b.frac * in["b"][i].get<int>(), -b.exponent, 16);
    EXPECT_EQ(x, out["a_q"][i].get<int>());
    EXPECT_EQ(y, out["b_q"][i].get<int>());
    EXPECT_EQ(x + y, out["sum"][i].get<int>());
  }
}

TEST(Mrt, Tables) {
  const Json e = example(26), &in = e["in"], &out = e["out"];
  const double scale = real(in["xs"]);
  std::vector<int32_t> table;
  const auto most = static_cast<int>(alpha(in["xprec"].get<int>()));
  for (int k = -most; k <= most; ++k)
    table.push_back(quantize(k / scale * (k / scale), real(in["oscale"]), 16));
  EXPECT_EQ(Json(table), out["table"]);
  for (size_t i = 0; i < in["x"].size(); ++i)
    EXPECT_EQ(table[static_cast<size_t>(in["x"][i].get<int>() + most)], out["y"][i].get<int>());
}

TEST(Mrt, ZeroPointConvolution) {
  const Json e = example(18);
  std::vector<int32_t> x, w;
  for (const Json& v : e["in"]["xq"].flatten()) x.push_back(v.get<int>());
  for (const Json& v : e["in"]["wq"].flatten()) w.push_back(v.get<int>());
  const ZeroPointTerms t = zero_point_terms(w, 1, 64, {100});
  EXPECT_EQ(t.c1[0], e["out"]["C1"].get<int64_t>());
  EXPECT_EQ(t.c2[0], e["out"]["C2"].get<int64_t>());
  int64_t sum = t.c2[0];
  for (size_t i = 0; i < x.size(); ++i) sum += int64_t{x[i]} * w[i] + t.c1[0] * x[i];
  EXPECT_EQ(sum, e["out"]["S"].get<int64_t>());
  // A border of the image holds zx, not 0.
  const Json border = example(19);
  const ZeroPointTerms b = zero_point_terms({5, 200, 30, 99}, 1, 64, {100});
  const std::vector<int> weights = {5, 200, 30, 99};
  int64_t with_zx = b.c2[0], with_0 = b.c2[0];
  for (size_t i = 0; i < 4; ++i) {
    const int v = border["in"]["window_with_padding_zx"][i].get<int>();
    with_zx += int64_t{v} * weights[i] + b.c1[0] * v;
    if (v != 64) with_0 += int64_t{v} * weights[i] + b.c1[0] * v;
  }
  EXPECT_EQ(with_zx, border["out"]["S"].get<int64_t>());
  EXPECT_EQ(with_0, border["out"]["S_if_padded_with_0"].get<int64_t>());
  const Json channels = example(20);
  const ZeroPointTerms both = zero_point_terms({5, 200, 30, 99}, 2, 64, {90, 100});
  EXPECT_EQ(Json(both.c1), channels["out"]["C1"]);
  EXPECT_EQ(Json(both.c2), channels["out"]["C2"]);
}

TEST(Mrt, Precisions) {
  const Json p = example(22);
  for (size_t i = 0; i < p["in"]["conv"].size(); ++i) {
    const Json& c = p["in"]["conv"][i];
    EXPECT_EQ(product_precision(c[0], c[1], c[2], c[3]), p["out"]["conv"][i].get<int>());
  }
  for (size_t i = 0; i < p["in"]["sum"].size(); ++i)
    EXPECT_EQ(sum_precision(p["in"]["sum"][i][0], p["in"]["sum"][i][1]),
              p["out"]["sum"][i].get<int>());
  for (size_t i = 0; i < p["in"]["clip"].size(); ++i)
    EXPECT_EQ(clip_precision(p["in"]["clip"][i][0], p["in"]["clip"][i][1]),
              p["out"]["clip"][i].get<int>());
}

}  // namespace
}  // namespace qrt::mrt::mrt_test
