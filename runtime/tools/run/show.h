// SPDX-License-Identifier: Apache-2.0
// Prints the outputs of a run in qrt_run.
#ifndef QRT_RUNTIME_TOOLS_RUN_SHOW_H_
#define QRT_RUNTIME_TOOLS_RUN_SHOW_H_

#include <string>
#include <vector>

#include "qrt/qrt.h"
#include "runtime/status.h"

namespace qrt::tool {

// Prints a line: "output_0 'logits' float32 [1, 10] fnv1a:0123456789abcdef", or sha256:...
void print_digest(const std::string& label, const qrt_tensor_info& info, const void* data,
                  bool with_sha256);

// Prints the first `count` elements, in lines of at most 80 columns; `dequantizes`: as real numbers
// where they are quantised.
void print_elements(const qrt_tensor_info& info, const void* data, size_t count, bool dequantizes);

// Prints the `count` greatest elements of each row, a row being the last dimension: index, label
// where there are any, value; equal ones in the order of their indices.
void print_greatest(const qrt_tensor_info& info, const void* data, size_t count,
                    const std::vector<std::string>& labels, bool dequantizes);

// Reads the lines of a text file.
Status read_lines(const std::string& path, std::vector<std::string>* lines);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_RUN_SHOW_H_
