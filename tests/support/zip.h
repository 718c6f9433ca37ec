// SPDX-License-Identifier: Apache-2.0
// Zip archives, as numpy.savez and numpy.savez_compressed write them.
#ifndef QRT_TESTS_SUPPORT_ZIP_H_
#define QRT_TESTS_SUPPORT_ZIP_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace qrt::testing {

struct ZipMember {
  std::string name, content;
};

inline std::string deflated(const std::string& content) {
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string data(deflateBound(&z, content.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(data.data());
  z.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  data.resize(z.total_out);
  deflateEnd(&z);
  return data;
}

// Returns a zip archive, deflated where `packed` says so, else stored.
inline std::string zip(const std::vector<ZipMember>& members, bool packed) {
  const auto n16 = [](size_t v) {
    return std::string{static_cast<char>(v), static_cast<char>(v >> 8)};
  };
  const auto n32 = [&](size_t v) { return n16(v & 0xffff) + n16(v >> 16); };
  std::string file, directory;
  for (const ZipMember& m : members) {
    const std::string data = packed ? deflated(m.content) : m.content;
    const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(m.content.data()),
                            static_cast<uInt>(m.content.size()));
    const std::string common = n16(20) + n16(0) + n16(packed ? 8 : 0) + n32(0) + n32(crc) +
                               n32(data.size()) + n32(m.content.size()) + n16(m.name.size()) +
                               n16(0);
    directory +=
        "PK\1\2" + n16(20) + common + n16(0) + n16(0) + n16(0) + n32(0) + n32(file.size()) + m.name;
    file += "PK\3\4" + common + m.name + data;
  }
  return file + directory + "PK\5\6" + n32(0) + n16(members.size()) + n16(members.size()) +
         n32(directory.size()) + n32(file.size()) + n16(0);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_ZIP_H_
