// SPDX-License-Identifier: Apache-2.0
#include "converter/check_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "runtime/session.h"
#include "runtime/tools/arrays.h"
#include "runtime/tools/elements.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

// Checks that all values are for an input or output (`kind`) of the model, so that none is left out.
Status check_used(const VerifiedModel& model, const char* kind,
                  const flatbuffers::Vector<uint32_t>& slots,
                  const std::vector<TestTensor>& values) {
  std::vector<std::string> names, unused;
  for (const uint32_t slot : slots)
    names.push_back(flatbuffers::GetString(model.tensor(slot).name()));
  const std::set<std::string> known(names.begin(), names.end());
  for (const TestTensor& t : values)
    if (known.count(t.name) == 0) unused.push_back(t.name);
  return tool::check_match(tool::Match::kArrays, kind, unused, {}, names).at("test values");
}

CheckedOutput compare(const TestTensor& want, const uint8_t* got) {
  const auto count = static_cast<size_t>(want.shape.elements());
  const tool::Elements a(want.dtype, got, count), b(want.dtype, want.data.data(), count);
  const bool is_real = tool::holds_reals(want.dtype);
  CheckedOutput result;
  result.name = want.name;
  result.elements = count;
  for (size_t i = 0; i < count; ++i) {
    const double x = a.value(i), y = b.value(i), d = std::fabs(x - y);
    if (a.same_bits(b, i) || x == y || (x != x && y != y)) continue;
    ++result.different;
    if (!(d <= result.worst)) result.worst = d;
    result.is_near &= d <= (is_real ? std::max(1e-6, std::fabs(y) * 0x1p-20) : 1.0);
  }
  return result;
}

}  // namespace

Status check_values(const std::vector<uint8_t>& model, const TestValues& values,
                    std::vector<CheckedOutput>* outputs) {
  outputs->clear();
  Result<ModelBytes> bytes = ModelBytes::copy(model.data(), model.size());
  if (!bytes.ok()) return std::move(bytes.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = verify(std::move(*bytes));
  if (!verified.ok()) return std::move(verified.status());
  QRT_TRY(check_used(**verified, "input", *(*verified)->file().inputs(), values.inputs));
  QRT_TRY(check_used(**verified, "output", *(*verified)->file().outputs(), values.outputs));
  PlanOptions sizes;
  QRT_TRY(find_sizes(**verified, values, &sizes));
  SessionOptions options;
  options.threads = 1;
  options.batch = sizes.batch;
  options.sizes = sizes.sizes;
  Result<std::unique_ptr<Session>> session = Session::create(*verified, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  QRT_TRY(check_fit(**verified, plan, values));
  const fb::Model& file = (*verified)->file();
  for (const uint32_t slot : *file.inputs()) {
    const TestTensor& input =
        *find_values(values.inputs, flatbuffers::GetString((*verified)->tensor(slot).name()));
    memcpy((*session)->data(slot), input.data.data(), input.data.size());
  }
  QRT_TRY((*session)->run());
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const std::string name =
        flatbuffers::GetString((*verified)->tensor(file.outputs()->Get(i)).name());
    outputs->push_back(
        compare(*find_values(values.outputs, name), (*session)->data(plan.outputs[i].slot)));
  }
  return Status();
}

}  // namespace qrt::convert
