// SPDX-License-Identifier: Apache-2.0
// Plans a model at many sizes that its file allows.
#ifndef QRT_TESTS_SUPPORT_LEGAL_SIZES_H_
#define QRT_TESTS_SUPPORT_LEGAL_SIZES_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "qrt/qrt.h"

namespace qrt::testing {

inline int64_t legal_size(const qrt_dim_info& dim, int64_t size) {
  size = std::clamp(size, dim.least, dim.most);
  return size - (size - dim.least) % dim.step;
}

// Returns the status of planning a session at sizes of all open dimensions.
inline qrt_status plan_at(const qrt_model* model, const std::vector<qrt_dim>& dims,
                          std::string* message) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.dims = dims.data();
  options.dim_count = dims.size();
  options.max_memory = size_t{1} << 30;
  qrt_session_info info;
  qrt_struct_init(&info);
  qrt_error error;
  const qrt_status status = qrt_session_needed_memory(model, &options, &info, &error);
  *message = error.message;
  return status;
}

// Returns why a size that the file allows is refused, for another reason than memory; "" where none is found. Each open dimension has
// many sizes, while the others have their default, their least, or an equal size: one of these has to be planned or to want
// memory alone, since sizes of several dimensions may have to fit each other.
inline std::string refused_size(const qrt_model* model) {
  std::vector<qrt_dim_info> infos(qrt_model_dim_count(model));
  for (size_t i = 0; i < infos.size(); ++i) {
    qrt_struct_init(&infos[i]);
    if (qrt_model_dim_info(model, i, &infos[i]) != QRT_OK) return "a dimension without an info";
  }
  for (size_t changed = 0; changed < infos.size(); ++changed) {
    const qrt_dim_info& dim = infos[changed];
    std::set<int64_t> sizes = {legal_size(dim, dim.most)};
    for (int64_t steps = 0; steps < 20; ++steps) {
      sizes.insert(legal_size(dim, dim.least + steps * dim.step));
      sizes.insert(legal_size(dim, dim.default_size + (steps - 10) * dim.step));
    }
    for (int64_t size = 16; size < dim.most; size *= 2)
      for (const int64_t by : {-1, 0, 1}) sizes.insert(legal_size(dim, size + by));
    for (const int64_t size : sizes) {
      std::vector<qrt_dim> own, least, equal;
      for (size_t i = 0; i < infos.size(); ++i) {
        own.push_back({infos[i].name, i == changed ? size : infos[i].default_size});
        least.push_back({infos[i].name, i == changed ? size : infos[i].least});
        equal.push_back({infos[i].name, i == changed ? size : legal_size(infos[i], size)});
      }
      std::string message, other;
      const auto is_legal = [&](const std::vector<qrt_dim>& dims, std::string* why) {
        const qrt_status status = plan_at(model, dims, why);
        return status == QRT_OK || status == QRT_OUT_OF_MEMORY;
      };
      if (is_legal(own, &message) || is_legal(least, &other) || is_legal(equal, &other)) continue;
      return std::string(dim.name) + " = " + std::to_string(size) + ": " + message;
    }
  }
  return "";
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_LEGAL_SIZES_H_
