// SPDX-License-Identifier: Apache-2.0
#include "runtime/allowed_isas.h"

#include <stdlib.h>

namespace qrt {
namespace {

std::string known_isas() {
  std::string names;
  Isa isa;
  for (int i = 0; isa_at(i, &isa); ++i) names += (i ? ", " : "") + std::string(isa_name(isa));
  return names;
}

// Parses the name of an instruction set. `source`: who gave it, for messages.
Status parse_cap(const char* source, const char* cap, Isa* isa) {
  if (!parse_isa(cap, isa)) {
    return error(Code::kInvalidArgument, "%s: unknown instruction set '%s'; known are %s", source,
                 cap, known_isas().c_str());
  }
  // A cap makes sense only within the CPU's architecture.
  if (is_foreign(*isa)) {
    return error(Code::kInvalidArgument, "%s: '%s' belongs to another architecture than this CPU's",
                 source, cap);
  }
  return {};
}

// Returns the value of QRT_ISA, or null.
const char* cap_of_environment() {
  const char* cap = getenv("QRT_ISA");
  return cap != nullptr && cap[0] != '\0' ? cap : nullptr;
}

}  // namespace

std::string isa_warning() {
  const char* cap = cap_of_environment();
  Isa isa;
  const Status status = cap != nullptr ? parse_cap("QRT_ISA", cap, &isa) : Status();
  return status.ok() ? "" : std::string("ignored: ") + status.message();
}

Result<IsaSet> allowed_isas(const char* cap) {
  Isa isa;
  if (cap != nullptr && cap[0] != '\0') {
    QRT_TRY(parse_cap("isa", cap, &isa));
    return capped(detected_isas(), isa);
  }
  const char* environments = cap == nullptr ? cap_of_environment() : nullptr;
  if (environments == nullptr || !parse_cap("QRT_ISA", environments, &isa).ok())
    return detected_isas();
  return capped(detected_isas(), isa);
}

}  // namespace qrt
