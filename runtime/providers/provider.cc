// SPDX-License-Identifier: Apache-2.0
// The table of providers.
#include "runtime/providers/provider.h"

#include <string.h>

#include <string>

#include "runtime/providers/xnnpack/provider.h"

namespace qrt {
namespace {

struct Row {
  const char* name;
  const Provider* (*find)();  // returns null where this build or CPU lacks it
  const char* missing;        // what the build lacks then, and its option
};

constexpr Row kProviders[] = {
    {"xnnpack", xnnpack_provider, "XNNPACK (QRT_WITH_XNNPACK)"},
    {"xnnpack-all", xnnpack_provider_of_all, "XNNPACK (QRT_WITH_XNNPACK)"},
};

}  // namespace

Result<const Provider*> find_provider(const char* name) {
  if (name == nullptr || strcmp(name, "qrt") == 0) return static_cast<const Provider*>(nullptr);
  std::string known = "qrt";
  for (const Row& row : kProviders) {
    known += std::string(", ") + row.name;
    if (strcmp(name, row.name) != 0) continue;
    const Provider* provider = row.find();
    if (provider != nullptr) return provider;
    return error(Code::kUnsupported, "kernels: this build has no %s", row.missing);
  }
  return error(Code::kInvalidArgument, "kernels: unknown provider '%s'; known are %s", name,
               known.c_str());
}

}  // namespace qrt
