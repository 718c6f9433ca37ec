// SPDX-License-Identifier: Apache-2.0
// ESP-DL's rounding, written from its definition, and values of both of its types.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/support/espdl_builder.h"
#include "tests/support/random.h"

namespace qrt::testing {

inline constexpr EspdlType kBoth[] = {EspdlType::INT8, EspdlType::INT16};
inline constexpr const char* kTargets[] = {"esp32p4", "esp32s3", "c"};

inline bool is_int16(EspdlType type) { return type == EspdlType::INT16; }
inline int64_t least(EspdlType type) { return is_int16(type) ? -32768 : -128; }
inline int64_t most(EspdlType type) { return is_int16(type) ? 32767 : 127; }
inline int64_t limited(EspdlType type, double v) {
  return static_cast<int64_t>(
      std::clamp(v, static_cast<double>(least(type)), static_cast<double>(most(type))));
}

// Returns v / 2^shift, half to even on the P4, half up elsewhere: exact in double here.
inline int64_t shifted(const std::string& target, EspdlType type, double v, int shift) {
  const double real = std::ldexp(v, -shift);
  return limited(type, target == "esp32p4" ? std::nearbyint(real) : std::floor(real + 0.5));
}
// Rounds a float32; half up is computed as a float32 sum.
inline int64_t rounded(const std::string& target, EspdlType type, float v) {
  return limited(
      type, static_cast<double>(target == "esp32p4" ? std::nearbyint(v) : std::floor(v + 0.5f)));
}

inline Bytes bytes_of(EspdlType type, const std::vector<int64_t>& values) {
  if (is_int16(type)) return to_bytes(std::vector<int16_t>(values.begin(), values.end()));
  return to_bytes(std::vector<int8_t>(values.begin(), values.end()));
}

inline std::vector<int64_t> random_values(Random& random, EspdlType type, size_t count) {
  std::vector<int64_t> values(count);
  random.fill(values, least(type), most(type));
  return values;
}

inline std::string constant(EspdlBuilder& b, const std::string& name, EspdlType type,
                            const std::vector<int64_t>& dims, const std::vector<int64_t>& values,
                            const std::vector<int64_t>& exponents,
                            const std::string& layout = "UNK") {
  if (is_int16(type))
    return b.constant(name, type, dims, std::vector<int16_t>(values.begin(), values.end()),
                      exponents, layout);
  return b.constant(name, type, dims, std::vector<int8_t>(values.begin(), values.end()), exponents,
                    layout);
}

// Calls f(target, type) for every pair.
template <class F>
void for_all(const F& f) {
  for (const char* target : kTargets)
    for (const EspdlType type : kBoth) {
      SCOPED_TRACE(std::string(target) + " " + espdl::EnumNameTensorDataType(type));
      f(std::string(target), type);
    }
}

}  // namespace qrt::testing
