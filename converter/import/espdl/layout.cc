// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/layout.h"

#include <cstring>

namespace qrt::convert::from_espdl {

int16_t value_at(const Tensor& tensor, int64_t i) {
  if (tensor.type == DataType::INT8) return static_cast<int8_t>(tensor.data[i]);
  int16_t value;
  memcpy(&value, tensor.data + i * 2, sizeof value);
  return value;
}

Status parse_layout(const std::string& text, Layout* layout) {
  *layout = Layout();
  std::string base = text;
  const std::string rest = "_UNALIGNED";
  if (base.size() > rest.size() && base.compare(base.size() - rest.size(), rest.size(), rest) == 0)
    base.resize(base.size() - rest.size());
  for (const char* name : {"NHWC", "NWC", "HWCN", "WCN"})
    if (base == name) {
      layout->is_row_major = true;
      return Status();
    }
  // Files of 2024 have "UNK" and an empty text, too.
  for (const char* name : {"(N/16)HWC16", "(N/8)HWC8", "N16HWC16", "N8HWC8", "(N/16)WC16",
                           "(N/8)WC8", "N16WC16", "N8WC8", ""})
    if (base == name) return Status();
  return error(Code::kUnsupported, "the weights have the layout '%s', which is not known",
               text.c_str());
}

Status unpack_filter(const Tensor& tensor, int64_t begin, const FilterShape& s,
                     std::vector<int16_t>* values) {
  Layout layout;
  QRT_TRY(parse_layout(tensor.layout, &layout));
  const int64_t a = block_of(tensor.type), full = s.n / a * a, taps = s.h * s.w;
  values->resize(static_cast<size_t>(s.elements()));
  int64_t from = begin;
  const auto put = [&](int64_t n, int64_t t, int64_t c) {
    const int64_t to = s.is_depthwise ? t * s.n + n : (n * taps + t) * s.c + c;
    (*values)[static_cast<size_t>(to)] = value_at(tensor, from++);
  };
  if (layout.is_row_major) {
    for (; from < begin + s.elements(); ++from)
      (*values)[static_cast<size_t>(from - begin)] = value_at(tensor, from);
    return Status();
  }
  for (int64_t block = 0; block < full; block += a)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < s.c; ++c)
        for (int64_t n = block; n < block + a; ++n) put(n, t, c);
  if (s.is_depthwise) {
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t n = full; n < s.n; ++n) put(n, t, 0);
  } else {
    for (int64_t n = full; n < s.n; ++n)
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t c = 0; c < s.c; ++c) put(n, t, c);
  }
  return Status();
}

}  // namespace qrt::convert::from_espdl
