// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/format.h"

#include <cstdarg>
#include <cstdio>

namespace qrt::quantize {

std::string format(const char* pattern, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

}  // namespace qrt::quantize
