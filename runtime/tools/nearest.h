// SPDX-License-Identifier: Apache-2.0
// Finds the name that a mistyped one may have meant.
#ifndef QRT_RUNTIME_TOOLS_NEAREST_H_
#define QRT_RUNTIME_TOOLS_NEAREST_H_

#include <algorithm>
#include <string>
#include <vector>

namespace qrt::tool {

// Returns how many characters have to be inserted, removed, replaced or swapped with their neighbour to
// make one name of the other. Takes time in proportion to the product of their lengths.
inline size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// Returns the name that `given` is nearest to or a beginning of, "" if none is near: at most a third of
// its characters may differ.
inline std::string nearest(const std::string& given, const std::vector<std::string>& names) {
  constexpr size_t kShortest = 3,
                   kLongest = 64;  // shorter ones are near to anything, and no name is longer
  if (given.size() < kShortest || given.size() > kLongest) return "";
  std::string best;
  size_t least = std::max<size_t>(1, given.size() / 3) + 1;
  for (const std::string& name : names) {
    const bool is_beginning = name.compare(0, given.size(), given) == 0;
    const size_t distance = is_beginning ? 1 : edit_distance(given, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

// Returns "; did you mean NAME?" for the nearest name, "" if none is near.
inline std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  const std::string name = nearest(given, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_NEAREST_H_
