// SPDX-License-Identifier: Apache-2.0
// Tells a child of fork() from its parent: the child has its parent's objects, but none of its threads.
#ifndef QRT_RUNTIME_PROCESS_MARK_H_
#define QRT_RUNTIME_PROCESS_MARK_H_

namespace qrt {

// Remembers in which process it was made. May be asked by several threads at once.
class ProcessMark {
 public:
  ProcessMark();

  // Returns whether this process was forked off the one in which the mark was made.
  bool is_inherited() const;

 private:
  const unsigned generation_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_PROCESS_MARK_H_
