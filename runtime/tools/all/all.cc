// SPDX-License-Identifier: Apache-2.0
// All tools as one program, which acts as the tool by whose name it is started: a wheel has room for what
// they share once. CMakeLists.txt gives each tool's main() a name of its own.
#include <cstdio>
#include <cstring>

#define QRT_TOOL(name) int name##_main(int argc, char** argv);
#include "runtime/tools/all/tools.inc"

namespace {

struct Tool {
  const char* name;
  int (*main)(int argc, char** argv);
};

constexpr Tool kTools[] = {
#define QRT_TOOL(name) {#name, name##_main},
#include "runtime/tools/all/tools.inc"
};

}  // namespace

int main(int argc, char** argv) {
  const char* slash = argc > 0 ? strrchr(argv[0], '/') : nullptr;
  const char* name = slash != nullptr ? slash + 1 : argc > 0 ? argv[0] : "";
  for (const Tool& tool : kTools)
    if (strcmp(tool.name, name) == 0) return tool.main(argc, argv);
  fprintf(stderr,
          "qrt: error: '%s' is the name of no tool; start this program as qrt_run or another\n",
          name);
  return 2;
}
