// SPDX-License-Identifier: Apache-2.0
// printf into a string, for the report's pages.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_FORMAT_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_FORMAT_H_

#include <string>

namespace qrt::quantize {

// Up to 1023 characters.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_FORMAT_H_
