// SPDX-License-Identifier: Apache-2.0
// Writes the seed corpus of a target: write_seeds TARGET DIRECTORY.
#include <cstdio>
#include <fstream>

#include "tests/fuzz/seeds.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: write_seeds TARGET DIRECTORY\n");
    return 2;
  }
  int number = 0;
  for (const std::vector<uint8_t>& seed : qrt::fuzz::seeds(argv[1])) {
    std::ofstream out(std::string(argv[2]) + "/seed" + std::to_string(number++), std::ios::binary);
    out.write(reinterpret_cast<const char*>(seed.data()),
              static_cast<std::streamsize>(seed.size()));
    if (!out) {
      fprintf(stderr, "write_seeds: cannot write to %s\n", argv[2]);
      return 1;
    }
  }
  return 0;
}
