#include "runtime/status.h"

#include <cstdarg>
#include <cstdio>

namespace qrt {

Status error(Code code, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return Status(code, text);
}

}  // namespace qrt
