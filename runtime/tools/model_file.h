// SPDX-License-Identifier: Apache-2.0
// .qrt files as the tools open them.
#ifndef QRT_RUNTIME_TOOLS_MODEL_FILE_H_
#define QRT_RUNTIME_TOOLS_MODEL_FILE_H_

#include <memory>
#include <string>

#include "qrt/qrt.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "runtime/verify.h"

namespace qrt::tool {

// Checks as check_readable(). Where the file is a model of another format than qrt's, it fails with
// kInvalidModel and the command that converts it.
Status check_model_file(const std::string& path);

// Maps and verifies a file, and compares it with its checksum; messages name the file.
Result<std::shared_ptr<const VerifiedModel>> load_verified(const std::string& path);

// Does the same in two steps, for tools that can say more of a damaged file than that it is damaged.
Result<std::shared_ptr<const VerifiedModel>> load_unchecked(const std::string& path);
Status check_sum(const VerifiedModel& model, const std::string& path);

DType dtype_of(const qrt_tensor_info& info);
Shape shape_of(const qrt_tensor_info& info);
// "float32 [1, 3, 224, 224]"
std::string type_text(const qrt_tensor_info& info);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_MODEL_FILE_H_
