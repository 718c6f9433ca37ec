// SPDX-License-Identifier: Apache-2.0
// Tables of a model; see shared_tables.h.
#include "runtime/shared_tables.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "runtime/checked.h"
#include "runtime/op.h"
#include "runtime/platform/mapping.h"

namespace qrt {
namespace {

// Tables of at least kLargeTable bytes share blocks of large pages, because making hundreds of small
// pages takes as long as writing the table. A block takes memory only as far as it is used.
constexpr size_t kLargeTable = 256 << 10, kBlockBytes = 16 << 20;

}  // namespace

uint64_t TableKey::hash() const {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd, with bits in no pattern
  uint64_t hash = bytes_.size();
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  const size_t rest = bytes_.size() % sizeof hash, whole = bytes_.size() - rest;
  for (size_t i = 0; i < whole; i += sizeof hash) {
    uint64_t word;
    memcpy(&word, bytes_.data() + i, sizeof word);
    mix(word);
  }
  uint64_t last = 0;
  memcpy(&last, bytes_.data() + whole, rest);
  mix(last);
  return hash;
}

void SharedTables::begin_plan() {
  ++plan_;
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = !entry->second.is_none && entry->second.table.expired() ? entries_.erase(entry)
                                                                    : std::next(entry);
}

SharedTables::Entry& SharedTables::entry_of(const TableKey& key) {
  const uint64_t hash = key.hash();
  const auto [begin, end] = entries_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry)
    if (entry->second.key == key.bytes()) return entry->second;
  Entry added;
  added.key = key.bytes();
  return entries_.emplace(hash, std::move(added))->second;
}

std::shared_ptr<const void> SharedTables::get_any(const TableKey& key,
                                                  std::shared_ptr<const void> (*make)(const void*),
                                                  const void* argument) {
  Entry& entry = entry_of(key);
  entry.used_by = plan_;
  std::shared_ptr<const void> table = entry.table.lock();
  if (table == nullptr && !entry.is_none) {
    const PlanMemoryScope on_the_heap(nullptr, nullptr);  // the table may live longer than the plan
    table = make(argument);
    entry.table = table;
    entry.is_none = table == nullptr;
  }
  return table;
}

std::vector<std::shared_ptr<const void>> SharedTables::of_plan() const {
  std::vector<std::shared_ptr<const void>> tables;
  for (const auto& [key, entry] : entries_)
    if (std::shared_ptr<const void> table = entry.table.lock();
        table != nullptr && entry.used_by == plan_)
      tables.push_back(std::move(table));
  return tables;
}

std::shared_ptr<TableBytes> SharedTables::make_bytes(size_t bytes) {
  auto table = std::make_shared<TableBytes>();
  table->data_ = allocate(round_up(bytes + kSlack, kAlignment));
  return table;
}

// Throws std::bad_alloc where there is no memory, as containers do.
std::shared_ptr<uint8_t> SharedTables::allocate(size_t bytes) {
  if (bytes < kLargeTable) {
    constexpr std::align_val_t kAligned{kAlignment};
    void* const data = ::operator new(bytes, kAligned);
    return {static_cast<uint8_t*>(data), [](uint8_t* p) { ::operator delete(p, kAligned); }};
  }
  std::shared_ptr<uint8_t> block = block_.lock();
  if (block == nullptr || bytes > block_bytes_ - block_used_) {
    const size_t size = std::max(bytes, kBlockBytes);
    auto* const memory = static_cast<uint8_t*>(platform::map_memory(size));
    if (memory == nullptr) throw std::bad_alloc();
    block = {memory, [size](uint8_t* p) { platform::unmap_memory(p, size); }};
    block_ = block, block_bytes_ = size, block_used_ = 0;
  }
  uint8_t* const data = block.get() + block_used_;
  block_used_ += bytes;
  return {std::move(block), data};
}

}  // namespace qrt
