// SPDX-License-Identifier: Apache-2.0
// std::to_string() for builds with the memory sanitizer: libc++.so's, which is not compiled for it, makes strings that it
// takes for undefined. In the test programs these stand before the library's.
#include <cstdio>
#include <string>

namespace std {
inline namespace __1 {

#define QRT_TO_STRING(type, format)                                                 \
  string to_string(type value) {                                                    \
    char text[400];                                                                 \
    return {text, static_cast<size_t>(snprintf(text, sizeof text, format, value))}; \
  }
QRT_TO_STRING(int, "%d")
QRT_TO_STRING(unsigned, "%u")
QRT_TO_STRING(long, "%ld")
QRT_TO_STRING(unsigned long, "%lu")
QRT_TO_STRING(long long, "%lld")
QRT_TO_STRING(unsigned long long, "%llu")
QRT_TO_STRING(float, "%f")
QRT_TO_STRING(double, "%f")
#undef QRT_TO_STRING

}  // namespace __1
}  // namespace std
