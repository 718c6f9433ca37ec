/* SPDX-License-Identifier: Apache-2.0 */
#include <qrt/qrt.h>
#include <stdio.h>

int main(void) {
  puts(qrt_version());
  return 0;
}
