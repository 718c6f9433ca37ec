// SPDX-License-Identifier: Apache-2.0
#include "converter/diff/reference.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/tools/files.h"
#include "runtime/tools/json_cost.h"

namespace qrt::diff {

namespace fs = std::filesystem;

Status Reference::open(const std::string& folder) {
  std::error_code failed;
  const auto cannot_be_read = [&] {
    return error(Code::kIoError, "%s: %s", folder.c_str(), failed.message().c_str());
  };
  const fs::file_status found = fs::status(folder, failed);
  if (found.type() == fs::file_type::none || !fs::exists(found)) return cannot_be_read();
  if (!fs::is_directory(found))
    return error(Code::kInvalidModel,
                 "%s: is no folder: expected one of tensors, NAME.npy, or of qrt_run --dump-all "
                 "--output-dir",
                 folder.c_str());
  const std::string index = folder + "/index.json";
  is_indexed_ = fs::exists(index, failed);
  if (failed) return cannot_be_read();
  if (!is_indexed_) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
      if (entry.path().extension() == ".npy")
        files_[tool::file_name_of(entry.path().stem().string())].push_back(entry.path().string());
    if (failed) return cannot_be_read();
    if (!files_.empty()) return {};
    return error(Code::kInvalidModel,
                 "%s: holds neither an index.json nor .npy files: expected what qrt_run --dump-all "
                 "--output-dir writes, or NAME.npy",
                 folder.c_str());
  }
  QRT_TRY(tool::check_readable(index));
  std::string text;
  QRT_TRY(tool::read_text(index, &text));
  Budget budget(text.size());
  QRT_TRY(reserve_json(text, &budget).at(index));
  try {
    for (const auto& entry : nlohmann::json::parse(text)) {
      const std::string name = entry.at("file").get<std::string>();
      files_[entry.at("name").get<std::string>()].push_back(folder + "/" + name);
    }
  } catch (const nlohmann::json::exception& e) {
    return error(Code::kInvalidModel,
                 "%s: expected a list of objects with \"name\" and \"file\": %s", index.c_str(),
                 e.what());
  }
  return {};
}

std::string Reference::key(const std::string& name) const {
  return is_indexed_ ? name : tool::file_name_of(name);
}

std::vector<std::string> Reference::others(const std::vector<std::string>& known) const {
  std::set<std::string> keys;
  for (const std::string& name : known) keys.insert(key(name));
  std::vector<std::string> others;
  for (const auto& [name, files] : files_)
    if (keys.count(name) == 0) others.push_back(name);
  return others;
}

std::vector<std::string> Reference::find(const std::string& name) const {
  const auto found = files_.find(key(name));
  return found == files_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace qrt::diff
