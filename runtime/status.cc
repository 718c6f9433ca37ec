// SPDX-License-Identifier: Apache-2.0
#include "runtime/status.h"

#include <cstdarg>
#include <cstdio>

#include "runtime/text.h"

namespace qrt {

Status error(Code code, const char* format, ...) {
  // Names come from files of any size; a path has 4096 bytes at most.
  constexpr size_t kMostBytes = 8192;
  char text[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  std::string message = text;
  if (length >= static_cast<int>(sizeof text)) {
    message.resize(static_cast<size_t>(length));
    vsnprintf(message.data(), message.size() + 1, format, again);
    message = shortened(message, kMostBytes);
  }
  va_end(again);
  return Status(code, std::move(message));
}

}  // namespace qrt
