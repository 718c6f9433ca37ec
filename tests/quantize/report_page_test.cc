// SPDX-License-Identifier: Apache-2.0
// The report's page: its verdict, and names that try to be more than names.
#include <gtest/gtest.h>

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/report/report.h"

namespace qrt::quantize::report_page_test {
namespace {

// Returns one row of three classes: of the float model, and of the integer model with an error in the first.
Comparison compared(size_t samples, size_t wrong, float error) {
  Comparison c;
  for (size_t i = 0; i < samples; ++i) {
    Tensor real, got;
    real.shape = got.shape = {1, 3};
    real.reals = {3, 2, 1};
    got.reals = i < wrong ? std::vector<float>{1, 2, 3} : std::vector<float>{3 + error, 2, 1};
    c.add(real, got);
  }
  return c;
}

Findings findings(size_t samples, size_t wrong, float error) {
  Findings f;
  f.model = "m.onnx";
  f.scheme = "ort-u8";
  f.held_out.all = compared(samples, wrong, error);
  return f;
}

void expect_verdict(const Findings& f, const std::string& kind, const std::string& text) {
  const std::string page = html_report(f);
  const std::string expected = "\"verdict\":{\"kind\":\"" + kind + "\",\"text\":\"" + text;
  EXPECT_NE(page.find(expected), std::string::npos) << expected << "\n"
                                                    << page.substr(page.find("\"verdict\""), 400);
}

TEST(ReportPage, VerdictInOneSentence) {
  expect_verdict(findings(20, 0, 0.01f), "good",
                 "Ready to use: on 20 held-out samples the integer model chooses the float model's "
                 "class in 100.0 % of the cases, and its outputs differ from the float model's by "
                 "0.27 % of their size.\"");
  expect_verdict(findings(20, 0, 0), "good",
                 "Ready to use: on 20 held-out samples the integer model chooses the float model's "
                 "class in 100.0 % of the cases, and its outputs are the float model's.\"");
  expect_verdict(findings(20, 0, 0.5f), "fair", "Usable, with losses: on 20 held-out samples");
  expect_verdict(findings(20, 5, 0), "bad", "Not to be used as it is: the integer model agrees");
  Findings random = findings(20, 0, 0);
  random.is_random = true;
  expect_verdict(random, "unknown", "For timing only: ");
  expect_verdict(Findings(), "unknown", "Not judged: ");
  Findings without_held_out = findings(0, 0, 0);
  without_held_out.calibration.all = compared(4, 0, 0);
  expect_verdict(without_held_out, "good", "Ready to use: on 4 calibration samples");
}

TEST(ReportPage, GraphAndPicturesShowWhereTheErrorIs) {
  Findings f = findings(20, 0, 0.01f);
  f.graph.nodes = {
      {"input", "x", "", 0.25}, {"operator", "c", "Conv", 0.75}, {"output", "y", "", -1}};
  f.graph.edges = {{0, 1}, {1, 2}};
  PictureFinding picture;
  picture.input = {2, 1, {255, 0, 0, 0, 0, 255}};
  picture.sqnr = 30;
  picture.real_class = 3;
  picture.got_class = 4;
  f.pictures.push_back(picture);
  const std::string page = html_report(f);
  for (const char* part :
       {"\"graph\":{\"nodes\":[{\"kind\":\"input\",\"name\":\"x\",\"op\":\"\",\"share\":0.25}",
        "{\"kind\":\"output\",\"name\":\"y\",\"op\":\"\",\"share\":null}]",
        "\"edges\":[[0,1],[1,2]]", "\"rgb\":\"/wAAAAD/\"", "\"classes\":[3,4]"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(ReportPage, NamesAreOnlyText) {
  const std::string evil = "</script><script>broken()</script>\x1b[2J\xff";
  Findings f = findings(20, 0, 0);
  f.model = f.scheme = f.why_onnx = evil;
  TensorFinding t;
  t.name = t.op = t.rule = t.remedy = evil;
  const std::vector<float> values = {-1, 0, 1, 2};
  t.histogram.add(values.data(), values.size());
  f.tensors.push_back(t);
  f.rungs.push_back({evil, 0.1, 0.01, true, {{evil, 0.1, 0.01}}});
  f.with_int16.push_back({{evil}, 0.1, {}});
  f.held_out.others.emplace_back(evil, compared(2, 0, 0));
  const std::string page = html_report(f);
  EXPECT_EQ(page.find("<script>broken"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
}

}  // namespace
}  // namespace qrt::quantize::report_page_test
