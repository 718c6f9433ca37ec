// SPDX-License-Identifier: Apache-2.0
// Tables that no shape changes: made once for a model, and shared by all operators and plans that need them.
#ifndef QRT_RUNTIME_SHARED_TABLES_H_
#define QRT_RUNTIME_SHARED_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/plan_memory.h"
#include "runtime/status.h"

namespace qrt {

// Identifies a table by its kind and every number that it is made from. Constants of the file are
// identified by their addresses.
class TableKey {
 public:
  explicit TableKey(const char* kind) {
    bytes_.reserve(kUsualBytes);
    bytes_ = kind;
  }

  template <class... Numbers>
  void add(Numbers... numbers) {
    const uint64_t words[] = {word(numbers)...};
    bytes_.append(reinterpret_cast<const char*>(words), sizeof words);
  }
  std::string_view bytes() const { return bytes_; }
  // Returns a number that differs for most keys.
  uint64_t hash() const;

 private:
  template <class Number>
  static uint64_t word(Number number) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number> ||
                  std::is_pointer_v<Number>);
    uint64_t word = 0;
    memcpy(&word, &number, sizeof number);
    return word;
  }

  static constexpr size_t kUsualBytes = 160;
  ScratchString bytes_;
};

// Bytes of a table, aligned to kAlignment and with kSlack readable bytes behind them.
class TableBytes {
 public:
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

 private:
  friend class SharedTables;
  std::shared_ptr<uint8_t> data_;
};

// Tables live as long as a plan holds them. Used by one thread at a time: the one that makes a plan.
class SharedTables {
 public:
  // Begins the next plan, which has taken no table from its budget yet.
  void begin_plan();

  // Returns the table of an equal key, or else what make() returns. Null, which means that there is no
  // such table, is remembered. A kind of table is of one type.
  template <class T, class Make>
  std::shared_ptr<const T> get(const TableKey& key, const Make& make) {
    const auto make_any = [](const void* f) -> std::shared_ptr<const void> {
      return std::shared_ptr<const T>((*static_cast<const Make*>(f))());
    };
    return std::static_pointer_cast<const T>(get_any(key, make_any, &make));
  }

  // Returns whether set_taken() was called for this key since the plan began: the plan's budget then
  // holds the table's bytes.
  bool is_taken(const TableKey& key) { return entry_of(key).taken_by == plan_; }
  void set_taken(const TableKey& key) { entry_of(key).taken_by = plan_; }

  // Returns all tables of the plan that begin_plan() began last.
  std::vector<std::shared_ptr<const void>> of_plan() const;

  // Returns the table of bytes of an equal key, or a new one, which fill(data) writes.
  template <class Fill>
  std::shared_ptr<const TableBytes> get_bytes(const TableKey& key, size_t bytes, const Fill& fill) {
    return get<TableBytes>(key, [&] { return make_bytes(bytes, fill); });
  }
  // Returns a new table of bytes, which fill(data) writes. Throws std::bad_alloc where there is no memory.
  template <class Fill>
  std::shared_ptr<TableBytes> make_bytes(size_t bytes, const Fill& fill) {
    std::shared_ptr<TableBytes> table = make_bytes(bytes);
    fill(table->data());
    return table;
  }

 private:
  struct Entry {
    std::string key;
    std::weak_ptr<const void> table;
    bool is_none = false;
    // Plans are numbered by begin_plan(): the last one whose budget has the table's bytes, and the last one that
    // asked for the table.
    size_t taken_by = 0, used_by = 0;
  };
  Entry& entry_of(const TableKey& key);
  std::shared_ptr<const void> get_any(const TableKey& key,
                                      std::shared_ptr<const void> (*make)(const void*),
                                      const void* argument);

  std::shared_ptr<TableBytes> make_bytes(size_t bytes);
  std::shared_ptr<uint8_t> allocate(size_t bytes);

  std::multimap<uint64_t, Entry> entries_;  // hash of the key -> entry
  // The block in which large tables stand one after the other. It lives as long as one of them.
  std::weak_ptr<uint8_t> block_;
  size_t block_bytes_ = 0, block_used_ = 0;
  size_t plan_ = 1;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SHARED_TABLES_H_
