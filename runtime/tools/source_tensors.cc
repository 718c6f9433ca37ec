// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/source_tensors.h"

#include <cstring>

namespace qrt::tool {

std::vector<uint8_t> SourceTensor::data() const {
  std::vector<uint8_t> result(stored, stored + info.bytes);
  if (order.empty()) return result;
  const size_t element = qrt_dtype_size(info.dtype);
  int64_t dims[QRT_MAX_RANK];  // as stored: dimension i there is dimension order[i] here
  for (size_t i = 0; i < order.size(); ++i) dims[order[i]] = info.dims[i];
  size_t stride[QRT_MAX_RANK], step = element;  // bytes, of the source's dimensions
  for (size_t d = order.size(); d-- > 0; step *= static_cast<size_t>(dims[d]))
    for (size_t i = 0; i < order.size(); ++i)
      if (order[i] == d) stride[i] = step;
  int64_t at[QRT_MAX_RANK] = {};
  size_t offset = 0;
  for (size_t to = 0; to < info.bytes; to += element) {
    memcpy(&result[to], stored + offset, element);
    for (int i = info.rank; i-- > 0;) {
      offset += stride[i];
      if (++at[i] < info.dims[i]) break;
      offset -= stride[i] * static_cast<size_t>(at[i]);
      at[i] = 0;
    }
  }
  return result;
}

Status each_source_tensor(const fb::Model& file, const Session& session,
                          const std::function<Status(const SourceTensor&)>& use) {
  const std::vector<Order> orders = source_orders(file);
  const std::vector<std::string> names = source_names(file);
  size_t next = 0;  // of the session's tensors
  for (uint32_t op = 0; op < file.operators()->size(); ++op)
    for (const uint32_t tensor : *file.operators()->Get(op)->outputs()) {
      SourceTensor t = {op, names[tensor], {}, {}, orders[tensor], nullptr};
      qrt_struct_init(&t.info);
      const void* data = nullptr;
      if (qrt_session_tensor(session.get(), next++, &t.info, &data) != QRT_OK)
        return error(Code::kInternal, "operator outputs and tensors of the session differ");
      t.stored = static_cast<const uint8_t*>(data);
      t.info.name = t.name.c_str();
      if (qrt_dtype_size(t.info.dtype) == 0) t.order.clear();  // packed
      t.dims.assign(t.info.dims, t.info.dims + t.info.rank);
      for (size_t i = 0; i < t.order.size(); ++i) t.dims[i] = t.info.dims[t.order[i]];
      t.info.dims = t.dims.data();
      QRT_TRY(use(t));
    }
  return {};
}

}  // namespace qrt::tool
