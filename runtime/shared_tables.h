// Tables that several operators of a plan have alike, made once.
#ifndef QRT_RUNTIME_SHARED_TABLES_H_
#define QRT_RUNTIME_SHARED_TABLES_H_

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace qrt {

// What kind of table it is, and the bytes of every number that it is made from.
class TableKey {
 public:
  explicit TableKey(const char* kind) : bytes_(kind) {}

  template <class... Numbers>
  void add(Numbers... numbers) {
    static_assert(((std::is_arithmetic_v<Numbers> || std::is_enum_v<Numbers>)&&...));
    (bytes_.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Used by one thread: the one that makes a plan.
class SharedTables {
 public:
  // The table of an equal key, or else what make() returns; that may be null, and is not asked for
  // again. A kind of table is of one type.
  template <class T, class Make>
  std::shared_ptr<const T> get(const TableKey& key, const Make& make) {
    const auto [found, is_new] = tables_.try_emplace(key.bytes());
    if (is_new) found->second = std::shared_ptr<const T>(make());
    return std::static_pointer_cast<const T>(found->second);
  }

 private:
  std::map<std::string, std::shared_ptr<const void>> tables_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SHARED_TABLES_H_
