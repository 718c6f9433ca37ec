// SPDX-License-Identifier: Apache-2.0
// A frame of many pages, compiled as the runtime and the tools are, for hardening_test.sh to look at.
#include <cstddef>

void use(char* frame, size_t bytes);

void large_frame() {
  char frame[1 << 20];
  use(frame, sizeof frame);
}
