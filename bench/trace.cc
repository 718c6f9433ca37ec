// SPDX-License-Identifier: Apache-2.0
#include "bench/trace.h"

#include <nlohmann/json.hpp>

#include "runtime/tools/files.h"

namespace qrt::bench {

using nlohmann::ordered_json;

Status write_trace(const std::string& path, const std::vector<Run>& runs) {
  auto events = ordered_json::array();
  for (size_t process = 0; process < runs.size(); ++process) {
    const Run& run = runs[process];
    const std::string title = run.options.model + ", threads " +
                              std::to_string(run.options.threads) + ", batch " +
                              std::to_string(run.m.batch);
    events.push_back(
        {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", title}}}});
    for (const TracedRun& traced : run.m.traced) {
      double at = traced.start_us;
      for (size_t i = 0; i < traced.op_us.size(); ++i) {
        const OpTime& op = run.m.ops[i];
        if (traced.op_us[i] > 0)  // views, and operators that run in another
          events.push_back(
              {{"name", op.name},
               {"cat", op.type},
               {"ph", "X"},
               {"ts", at},
               {"dur", traced.op_us[i]},
               {"pid", process},
               {"tid", 0},
               {"args", {{"kernel", op.kernel}, {"type", op.type}, {"macs", op.macs}}}});
        at += traced.op_us[i];
      }
    }
  }
  const ordered_json root = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  const std::string text = root.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
  return tool::write_file(path, text.data(), text.size());
}

}  // namespace qrt::bench
