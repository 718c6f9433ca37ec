// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/npz.h"

#ifdef QRT_HAS_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/tools/files.h"
#include "runtime/tools/hash.h"

namespace qrt::tool {
namespace {

constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr size_t kPiece = 1 << 16;             // bytes read at once
constexpr size_t kMostHead = size_t{1} << 17;  // an npy header ends before
constexpr size_t kMaxComment = 65535, kMaxDirectory = size_t{1} << 26;

using File = std::shared_ptr<FILE>;

constexpr uint32_t kEncrypted = 1;  // of a member's flags

struct Member {
  std::string name;
  uint32_t flags = 0, method = 0, crc = 0, packed = 0, bytes = 0, at = 0;
};

uint32_t read16(const uint8_t* p) { return p[0] | static_cast<uint32_t>(p[1]) << 8; }
uint32_t read32(const uint8_t* p) { return read16(p) | read16(p + 2) << 16; }

Status unreadable() { return error(Code::kIoError, "cannot be read"); }
Status damaged() { return error(Code::kInvalidModel, "is not a whole .npz (zip) file"); }

Status read_at(FILE* file, size_t at, size_t n, std::vector<uint8_t>* bytes) {
  bytes->resize(n);
  if (fseek(file, static_cast<long>(at), SEEK_SET) != 0) return unreadable();
  if (fread(bytes->data(), 1, n, file) == n) return {};
  return ferror(file) ? unreadable() : damaged();
}

// Reads the archive's directory, which lies at its end; the last record says where it starts.
Status read_directory(FILE* file, size_t file_bytes, std::vector<Member>* members) {
  if (file_bytes < kEndBytes) return damaged();
  std::vector<uint8_t> tail;
  const size_t tail_bytes = std::min(file_bytes, kEndBytes + kMaxComment);
  QRT_TRY(read_at(file, file_bytes - tail_bytes, tail_bytes, &tail));
  size_t end = tail_bytes - kEndBytes + 1;
  while (end > 0 && memcmp(&tail[end - 1], "PK\5\6", 4) != 0) --end;
  if (end == 0) return damaged();
  const uint8_t* record = &tail[end - 1];
  const size_t count = read16(record + 10), size = read32(record + 12), at = read32(record + 16);
  if (size > kMaxDirectory || size > file_bytes || at > file_bytes - size) return damaged();
  std::vector<uint8_t> directory;
  QRT_TRY(read_at(file, at, size, &directory));
  size_t p = 0;
  for (size_t i = 0; i < count; ++i) {
    if (p + kEntryBytes > size || memcmp(&directory[p], "PK\1\2", 4) != 0) return damaged();
    const uint8_t* e = &directory[p];
    const size_t name_bytes = read16(e + 28);
    if (p + kEntryBytes + name_bytes > size) return damaged();
    Member m;
    m.name.assign(reinterpret_cast<const char*>(e + kEntryBytes), name_bytes);
    m.flags = read16(e + 8);
    m.method = read16(e + 10);
    m.crc = read32(e + 16);
    m.packed = read32(e + 20);
    m.bytes = read32(e + 24);
    m.at = read32(e + 42);
    if (m.packed == UINT32_MAX || m.bytes == UINT32_MAX || m.at == UINT32_MAX)
      return error(Code::kUnsupported, "its array '%s' is beyond 4 GB: save it as .npy",
                   m.name.c_str());
    if (has_extension(m.name, ".npy")) {
      m.name.resize(m.name.size() - 4);
      members->push_back(m);
    }
    p += kEntryBytes + name_bytes + read16(e + 30) + read16(e + 32);
  }
  return {};
}

#ifdef QRT_HAS_ZLIB
// Inflates `packed` bytes from `at` on: at least `most` of those that the archive says there are, or all.
Status inflate_member(FILE* from, size_t at, const Member& m, size_t most, FILE* to) {
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
    return error(Code::kOutOfMemory, "no memory to inflate");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closes(&z, inflateEnd);
  std::vector<uint8_t> in(kPiece), out(kPiece);
  size_t left = m.packed, done = 0;
  Crc32 crc;
  if (fseek(from, static_cast<long>(at), SEEK_SET) != 0) return unreadable();
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (z.avail_in == 0 && left > 0) {
      const size_t n = fread(in.data(), 1, std::min(left, in.size()), from);
      if (n == 0) return ferror(from) ? unreadable() : damaged();
      left -= n;
      z.next_in = in.data();
      z.avail_in = static_cast<uInt>(n);
    }
    z.next_out = out.data();
    z.avail_out = static_cast<uInt>(out.size());
    state = inflate(&z, Z_NO_FLUSH);
    if (state == Z_MEM_ERROR) return error(Code::kOutOfMemory, "no memory to inflate");
    if (state != Z_OK && state != Z_STREAM_END) return damaged();
    const size_t made = out.size() - z.avail_out;
    done += made;
    crc.add(out.data(), made);
    if (done > m.bytes) return damaged();
    if (fwrite(out.data(), 1, made, to) != made)
      return error(Code::kIoError, "a temporary file: %s", strerror(errno));
    if (done >= most && state != Z_STREAM_END) return {};
  }
  return done == m.bytes && crc.value() == m.crc ? Status() : damaged();
}

// Opens a deflated member of the archive. Its header has to fit its size, and its size the budget, before
// the rest is inflated. Without a budget the rest is not.
Status open_deflated(FILE* archive, size_t at, const Member& m, Budget* budget, NpyFile* npy) {
  // The array, what of it a run takes, and the session's input.
  constexpr uint64_t kCopies = 3;
  File head, plain;
  QRT_TRY(open_temporary_file(&head));
  QRT_TRY(inflate_member(archive, at, m, kMostHead, head.get()));
  QRT_TRY(npy->open(head, 0, m.bytes));
  if (budget == nullptr) return {};
  QRT_TRY(budget->reserve(kCopies * m.bytes));
  QRT_TRY(open_temporary_file(&plain));
  QRT_TRY(inflate_member(archive, at, m, m.bytes, plain.get()));
  return npy->open(plain, 0, m.bytes);
}
#else
Status open_deflated(FILE*, size_t, const Member& m, Budget*, NpyFile*) {
  return error(Code::kUnsupported,
               "its array '%s' is compressed, and this program was built without zlib: use "
               "numpy.savez, or .npy",
               m.name.c_str());
}
#endif

// Opens a stored member of the archive. Where `checks`, its bytes have to have the directory's checksum.
Status open_stored(const File& archive, size_t at, const Member& m, bool checks, NpyFile* npy) {
  if (m.packed != m.bytes) return damaged();
  if (!checks) return npy->open(archive, at, m.bytes);
  Crc32 crc;
  std::vector<uint8_t> piece;
  for (size_t done = 0; done < m.bytes; done += piece.size()) {
    QRT_TRY(read_at(archive.get(), at + done, std::min<size_t>(m.bytes - done, kPiece), &piece));
    crc.add(piece.data(), piece.size());
  }
  if (crc.value() != m.crc)
    return error(Code::kInvalidModel, "its array '%s' is damaged: the checksum is another",
                 m.name.c_str());
  return npy->open(archive, at, m.bytes);
}

// Opens a member whole, or, without a budget, for its type and shape alone.
Status open_member(const File& file, size_t file_bytes, const std::string& name, Budget* budget,
                   NpyFile* npy) {
  std::vector<Member> members;
  QRT_TRY(read_directory(file.get(), file_bytes, &members));
  const auto m = std::find_if(members.begin(), members.end(),
                              [&](const Member& member) { return member.name == name; });
  if (m == members.end()) return damaged();
  if ((m->flags & kEncrypted) != 0)
    return error(Code::kUnsupported, "its array '%s' is encrypted: save it without a password",
                 name.c_str());
  std::vector<uint8_t> local;
  QRT_TRY(read_at(file.get(), m->at, kLocalBytes, &local));
  const size_t at = m->at + kLocalBytes + read16(&local[26]) + read16(&local[28]);
  if (memcmp(local.data(), "PK\3\4", 4) != 0 || at > file_bytes || m->packed > file_bytes - at)
    return damaged();
  if (m->method == 0) return open_stored(file, at, *m, budget != nullptr, npy);
  if (m->method != 8)
    return error(Code::kUnsupported,
                 "its array '%s' is packed by method %u (known: stored, deflated)", name.c_str(),
                 m->method);
  return open_deflated(file.get(), at, *m, budget, npy);
}

}  // namespace

Status list_npz(const std::string& path, std::vector<std::string>* names) {
  File file;
  size_t file_bytes = 0;
  std::vector<Member> members;
  QRT_TRY(open_file(path, &file, &file_bytes));
  QRT_TRY(read_directory(file.get(), file_bytes, &members).at(path));
  for (const Member& m : members) names->push_back(m.name);
  if (names->empty()) return error(Code::kInvalidModel, "%s: holds no arrays", path.c_str());
  return {};
}

Status read_npz_head(const std::string& path, const std::string& name, NpyArray* head) {
  File archive;
  size_t bytes = 0;
  NpyFile file;
  QRT_TRY(open_file(path, &archive, &bytes));
  QRT_TRY(open_member(archive, bytes, name, nullptr, &file).at(path));
  head->dtype = file.dtype();
  head->shape = file.shape();
  return {};
}

Status open_npz_member(const std::string& path, const std::string& name, NpyFile* file,
                       Budget* budget) {
  File archive;
  size_t bytes = 0;
  QRT_TRY(open_file(path, &archive, &bytes));
  Budget own(bytes);
  return open_member(archive, bytes, name, budget != nullptr ? budget : &own, file).at(path);
}

}  // namespace qrt::tool
