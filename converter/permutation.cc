// SPDX-License-Identifier: Apache-2.0
// Permutations of dimensions.
#include "converter/permutation.h"

#include <cstring>
#include <utility>

namespace qrt::convert {

Perm identity_perm(int rank) {
  Perm p(static_cast<size_t>(rank));
  for (size_t i = 0; i < p.size(); ++i) p[i] = static_cast<uint8_t>(i);
  return p;
}

bool is_identity(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != i) return false;
  return true;
}

Perm compose(const Perm& a, const Perm& b) {
  Perm p(b.size());
  for (size_t i = 0; i < p.size(); ++i) p[i] = a[b[i]];
  return p;
}

Perm inverse(const Perm& perm) {
  Perm p(perm.size());
  for (size_t i = 0; i < p.size(); ++i) p[perm[i]] = static_cast<uint8_t>(i);
  return p;
}

Shape permuted(const Shape& shape, const Perm& perm) {
  Shape s;
  for (uint8_t d : perm) s.push_back(shape[d]);
  return s;
}

int permuted_axis(int axis, const Perm& perm) {
  return axis < 0 ? axis : inverse(perm)[static_cast<size_t>(axis)];
}

bool moves_only_units(const Perm& perm, const Shape& shape) {
  int last = -1;
  for (uint8_t d : perm) {
    if (d != 0 && shape[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

namespace {

// Dimensions of `in` and of `out` that hold the same elements: equal products, as short as
// possible.
struct DimGroup {
  std::vector<uint8_t> in, out;
};

// Finds groups of dimensions of equal product. Dimension 0 stays a group of its own where it keeps
// its size: it may be the batch.
std::optional<std::vector<DimGroup>> match_dims(const Shape& in, const Shape& out) {
  if (in.elements() <= 0 || in.elements() != out.elements()) return std::nullopt;
  std::vector<DimGroup> groups;
  int i = 0, o = 0;
  if (in.rank() > 0 && out.rank() > 0 && in[0] == out[0]) {
    groups.push_back({{0}, {0}});
    i = o = 1;
  }
  while (true) {
    while (i < in.rank() && in[i] == 1) ++i;
    while (o < out.rank() && out[o] == 1) ++o;
    if (i == in.rank() || o == out.rank()) return groups;
    DimGroup g{{static_cast<uint8_t>(i)}, {static_cast<uint8_t>(o)}};
    int64_t a = in[i++], b = out[o++];
    while (a != b) {
      if (a < b) {
        if (in[i] != 1) g.in.push_back(static_cast<uint8_t>(i));
        a *= in[i++];
      } else {
        if (out[o] != 1) g.out.push_back(static_cast<uint8_t>(o));
        b *= out[o++];
      }
    }
    groups.push_back(std::move(g));
  }
}

}  // namespace

std::optional<Perm> carry_through_reshape(const Shape& in, const Perm& in_perm, const Shape& out) {
  const auto groups = match_dims(in, out);
  if (!groups) return std::nullopt;
  // Order of the output's grouped dimensions that the order of groups in in_perm gives.
  Perm grouping;  // of the output's dimensions that belong to groups
  size_t next = 0;
  Perm walk;
  for (uint8_t d : in_perm)
    for (const DimGroup& g : *groups)
      for (uint8_t member : g.in)
        if (member == d) walk.push_back(d);
  while (next < walk.size()) {
    const DimGroup* found = nullptr;
    for (const DimGroup& g : *groups)
      if (g.in[0] == walk[next]) found = &g;
    if (!found || next + found->in.size() > walk.size()) return std::nullopt;
    for (uint8_t member : found->in)
      if (walk[next++] != member) return std::nullopt;
    grouping.insert(grouping.end(), found->out.begin(), found->out.end());
  }
  // Ungrouped dimensions of size 1 go before the grouped one that follows them, the last ones
  // behind the last grouped dimension.
  std::vector<bool> grouped(static_cast<size_t>(out.rank()), false);
  for (uint8_t d : grouping) grouped[d] = true;
  int last_grouped = out.rank() - 1;
  while (last_grouped >= 0 && !grouped[static_cast<size_t>(last_grouped)]) --last_grouped;
  if (last_grouped < 0) return identity_perm(out.rank());
  Perm perm;
  for (uint8_t d : grouping) {
    size_t first = d;
    while (first > 0 && !grouped[first - 1]) --first;
    for (; first <= d; ++first) perm.push_back(static_cast<uint8_t>(first));
    if (d == last_grouped)
      for (int t = d + 1; t < out.rank(); ++t) perm.push_back(static_cast<uint8_t>(t));
  }
  return perm;
}

Value transposed_constant(const Value& constant, const Perm& perm) {
  Value out = constant;
  out.type.shape = permuted(constant.type.shape, perm);
  out.quantization.axis = permuted_axis(constant.quantization.axis, perm);
  const size_t rank = perm.size(), element = dtype_bytes(constant.type.dtype);
  const size_t count = element == 0 ? 0 : constant.data.size() / element;
  if (rank == 0 || count == 0) return out;
  std::vector<size_t> stride(rank), index(rank, 0);  // stride: in the source, elements
  for (size_t i = 0; i < rank; ++i) {
    stride[i] = 1;
    for (int d = perm[i] + 1; d < static_cast<int>(rank); ++d)
      stride[i] *= static_cast<size_t>(constant.type.shape[d]);
  }
  size_t from = 0;
  for (size_t to = 0; to < count; ++to) {
    memcpy(out.data.data() + to * element, constant.data.data() + from * element, element);
    for (size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < static_cast<size_t>(out.type.shape[static_cast<int>(d)])) break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace qrt::convert
