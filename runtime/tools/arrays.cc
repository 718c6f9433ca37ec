// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/arrays.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/npz.h"

namespace qrt::tool {
namespace {

bool is_npz(const std::string& file) { return has_extension(file, ".npz"); }

// Refuses test data of ONNX models (.pb), for which the tools would need protobuf.
Status check_extension(const std::string& file) {
  if (!has_extension(file, ".pb")) return {};
  return error(
      Code::kInvalidModel,
      "%s: is an ONNX tensor, expected .npy or .npz: qrt_convert MODEL.onnx --check --test-data "
      "FOLDER runs a folder of them, with --keep-test-values they are in the .qrt file for "
      "qrt_run --check",
      file.c_str());
}

// Returns names in quotes, "'a', 'b'"; at most `most` of them.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kMostNames)
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

// Opens the array for `tensor` in a file that was given as NAME=FILE.
Status open_named(const std::string& tensor, const std::string& file, ArrayFile* array) {
  *array = {file, ""};
  if (!is_npz(file)) return {};
  std::vector<std::string> members;
  QRT_TRY(list_npz(file, &members));
  if (members.size() != 1 && std::find(members.begin(), members.end(), tensor) == members.end())
    return error(Code::kInvalidArgument, "%s: holds no array for '%s': it has %s", file.c_str(),
                 tensor.c_str(), listed(members).c_str());
  array->member = members.size() == 1 ? members[0] : tensor;
  return {};
}

class Assignment {
 public:
  Assignment(const char* kind, const std::vector<std::string>& tensors,
             std::vector<ArrayFile>* assigned)
      : kind_(kind), tensors_(tensors), assigned_(*assigned) {
    assigned_.assign(tensors.size(), {});
    for (size_t i = 0; i < tensors.size(); ++i) by_name_.emplace(tensors[i], i);
  }

  Status add_named(const std::string& text, size_t i, const std::string& file) {
    if (!is_free(i))
      return error(Code::kInvalidArgument, "%s: %s '%s' is given twice", text.c_str(), kind_,
                   tensors_[i].c_str());
    return open_named(tensors_[i], file, &assigned_[i]);
  }

  Status add(const std::string& file) {
    if (!is_npz(file)) {
      add_next({file, ""});
      return {};
    }
    std::vector<std::string> members;
    QRT_TRY(list_npz(file, &members));
    const bool has_names =
        std::any_of(members.begin(), members.end(),
                    [&](const std::string& member) { return by_name_.count(member) != 0; });
    if (has_names) {
      for (const std::string& member : members) add_by_name({file, member});
    } else if (members.size() == 1) {
      add_next({file, members[0]});
    } else {
      add_in_order(file, members);
    }
    return {};
  }

  Status finish(Match match, const char* some) const {
    std::vector<std::string> missing;
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (is_free(i)) missing.push_back(tensors_[i]);
    return check_match(match, kind_, left_over_, missing, tensors_, some);
  }

 private:
  bool is_free(size_t i) const { return assigned_[i].path.empty(); }

  void add_by_name(const ArrayFile& array) {
    const auto [begin, end] = by_name_.equal_range(array.member);
    const auto tensor =
        std::find_if(begin, end, [this](const auto& entry) { return is_free(entry.second); });
    if (tensor == end)
      left_over_.push_back(array.text());
    else
      assigned_[tensor->second] = array;
  }

  // Adds an array for the first tensor that has none.
  void add_next(const ArrayFile& array) {
    while (next_ < tensors_.size() && !is_free(next_)) ++next_;
    if (next_ == tensors_.size())
      left_over_.push_back(array.text());
    else
      assigned_[next_] = array;
  }

  // arr_0, arr_1 ...
  void add_in_order(const std::string& file, const std::vector<std::string>& members) {
    std::multiset<std::string> left(members.begin(), members.end());
    for (size_t i = 0;; ++i) {
      const auto member = left.find("arr_" + std::to_string(i));
      if (member == left.end()) break;
      add_next({file, *member});
      left.erase(member);
    }
    for (const std::string& member : left) left_over_.push_back(ArrayFile{file, member}.text());
  }

  const char* kind_;
  const std::vector<std::string>& tensors_;
  std::vector<ArrayFile>& assigned_;
  std::multimap<std::string, size_t> by_name_;  // tensors
  size_t next_ = 0;
  std::vector<std::string> left_over_;  // arrays that are for no tensor
};

}  // namespace

std::string ArrayFile::text() const {
  if (is_stdin()) return "standard input";
  return member.empty() ? path : path + "[" + member + "]";
}

Status ArrayFile::read_head(NpyArray* array) const {
  if (is_stdin()) return read_npy_of_stdin(array);
  if (!member.empty()) return read_npz_head(path, member, array);
  NpyFile file;
  QRT_TRY(file.open(path));
  array->dtype = file.dtype();
  array->shape = file.shape();
  return {};
}

Status ArrayFile::read(Budget* budget, NpyArray* array) const {
  if (is_stdin()) return {};
  NpyFile file;
  QRT_TRY(member.empty() ? file.open(path) : open_npz_member(path, member, &file, budget));
  return read_all(file, array).at(text());
}

Status add_files(const std::vector<ArrayFile>& files, Budget* budget) {
  std::set<std::string> paths;
  for (const ArrayFile& file : files) {
    if (file.path.empty() || file.is_stdin() || !paths.insert(file.path).second) continue;
    std::shared_ptr<FILE> opened;
    size_t bytes = 0;
    QRT_TRY(open_file(file.path, &opened, &bytes));
    budget->add_file(bytes);
  }
  return {};
}

size_t find_named(const std::string& text, const std::vector<std::string>& tensors,
                  std::string* file) {
  size_t best = tensors.size(), best_length = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string start = tensors[i] + "=";
    if (text.compare(0, start.size(), start) == 0 && start.size() > best_length) {
      best = i;
      best_length = start.size();
    }
  }
  if (best != tensors.size()) *file = text.substr(best_length);
  return best;
}

Status check_match(Match match, const char* kind, const std::vector<std::string>& arrays,
                   const std::vector<std::string>& missing, const std::vector<std::string>& tensors,
                   const char* some) {
  const bool needs_all = match == Match::kAll && !missing.empty();
  const bool has_none = match == Match::kSome && missing.size() == tensors.size();
  const bool has_unused = match != Match::kSome && !arrays.empty();
  if (!needs_all && !has_none && !has_unused) return {};
  std::string text;
  if (!arrays.empty())
    text += counted(arrays.size(), "array") + (arrays.size() == 1 ? " is" : " are") + " for no " +
            kind + " of the model: " + listed(arrays) + "; ";
  if (!missing.empty())
    text += counted(missing.size(), kind) + (missing.size() == 1 ? " has" : " have") +
            " no array: " + listed(missing) + "; ";
  text += "the model has " + counted(tensors.size(), kind) + ": " + listed(tensors);
  if (some[0] != '\0' && match != Match::kSome)
    text += std::string("; ") + some + " takes those that match and leaves out the others";
  return error(Code::kInvalidArgument, "%s", text.c_str());
}

Status assign_arrays(const char* kind, const std::vector<std::string>& tensors,
                     const std::vector<std::string>& given, Match match,
                     std::vector<ArrayFile>* assigned, const char* some) {
  Assignment assignment(kind, tensors, assigned);
  std::vector<std::string> files;
  for (const std::string& text : given) {
    std::string file;
    const size_t i = find_named(text, tensors, &file);
    QRT_TRY(check_extension(text));
    if (i < tensors.size())
      QRT_TRY(assignment.add_named(text, i, file));
    else if (text.find('=') != std::string::npos && !check_readable(text).ok())
      return error(Code::kInvalidArgument,
                   "%s: no %s of the model has this name, and no file is called so; they are %s",
                   text.c_str(), kind, listed(tensors).c_str());
    else
      files.push_back(text);
  }
  for (const std::string& file : files) QRT_TRY(assignment.add(file));
  return assignment.finish(match, some);
}

}  // namespace qrt::tool
