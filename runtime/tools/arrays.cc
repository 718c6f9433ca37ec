#include "runtime/tools/arrays.h"

#include <algorithm>

#include "runtime/tools/files.h"
#include "runtime/tools/npz.h"

namespace qrt::tool {
namespace {

bool is_npz(const std::string& file) { return has_extension(file, ".npz"); }

// Test data of ONNX models, which would need protobuf to be read here.
Status check_extension(const std::string& file) {
  if (!has_extension(file, ".pb")) return {};
  return error(
      Code::kUnsupported,
      "%s: is an ONNX tensor, expected .npy or .npz: qrt_convert MODEL.onnx --check --test-data "
      "FOLDER runs a folder of them, with --keep-test-values they are in the .qrt file for "
      "qrt_run --check",
      file.c_str());
}

bool has(const std::vector<std::string>& members, const std::string& name) {
  return std::find(members.begin(), members.end(), name) != members.end();
}

Status absent(const std::string& file, const char* what, const std::vector<std::string>& members) {
  std::string known;
  for (const std::string& m : members) known += (known.empty() ? "'" : ", '") + m + "'";
  return error(Code::kInvalidArgument, "%s: holds no array for %s: it has %s", file.c_str(), what,
               known.c_str());
}

// Of a file with a name in front.
Status open_named(const std::string& tensor, const std::string& file, ArrayFile* array) {
  *array = {file, ""};
  if (!is_npz(file)) return {};
  std::vector<std::string> members;
  QRT_TRY(list_npz(file, &members));
  if (members.size() != 1 && !has(members, tensor))
    return absent(file, ("'" + tensor + "'").c_str(), members);
  array->member = members.size() == 1 ? members[0] : tensor;
  return {};
}

class Assignment {
 public:
  Assignment(const char* kind, const std::vector<std::string>& tensors,
             std::vector<ArrayFile>* assigned)
      : kind_(kind), tensors_(tensors), assigned_(*assigned) {
    assigned_.assign(tensors.size(), {});
  }

  Status add_named(const std::string& text, size_t i, const std::string& file) {
    if (!assigned_[i].path.empty())
      return error(Code::kInvalidArgument, "%s: %s '%s' is given twice", text.c_str(), kind_,
                   tensors_[i].c_str());
    return open_named(tensors_[i], file, &assigned_[i]);
  }

  Status add(const std::string& file) {
    if (is_npz(file)) return add_archive(file);
    if (next() == tensors_.size())
      ++left_over_;
    else
      assigned_[next()] = {file, ""};
    return {};
  }

  Status finish() const {
    if (left_over_ == 0) return {};
    return error(Code::kInvalidArgument, "%zu %s files are left over, the model has %zu %ss",
                 left_over_, kind_, tensors_.size(), kind_);
  }

 private:
  // The first that has no file.
  size_t next() const {
    size_t i = 0;
    while (i < tensors_.size() && !assigned_[i].path.empty()) ++i;
    return i;
  }

  Status add_archive(const std::string& file) {
    std::vector<std::string> members;
    QRT_TRY(list_npz(file, &members));
    bool is_used = false;
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (assigned_[i].path.empty() && has(members, tensors_[i])) {
        assigned_[i] = {file, tensors_[i]};
        is_used = true;
      }
    if (is_used) return {};
    if (next() == tensors_.size()) {
      ++left_over_;
      return {};
    }
    if (members.size() == 1) {
      assigned_[next()] = {file, members[0]};
      return {};
    }
    for (size_t i = 0; has(members, "arr_" + std::to_string(i)) && next() < tensors_.size(); ++i) {
      assigned_[next()] = {file, "arr_" + std::to_string(i)};
      is_used = true;
    }
    return is_used ? Status()
                   : absent(file, ("any " + std::string(kind_) + " of the model").c_str(), members);
  }

  const char* kind_;
  const std::vector<std::string>& tensors_;
  std::vector<ArrayFile>& assigned_;
  size_t left_over_ = 0;
};

}  // namespace

std::string ArrayFile::text() const {
  if (path == "-") return "standard input";
  return member.empty() ? path : path + "[" + member + "]";
}

Status ArrayFile::read(NpyArray* array) const {
  if (path == "-") return read_npy_of_stdin(array);
  if (member.empty()) return read_npy(path, array);
  NpyFile file;
  QRT_TRY(open_npz_member(path, member, &file));
  return read_all(file, array).at(text());
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

Status assign_arrays(const char* kind, const std::vector<std::string>& tensors,
                     const std::vector<std::string>& given, std::vector<ArrayFile>* assigned) {
  Assignment assignment(kind, tensors, assigned);
  std::vector<std::string> files;
  for (const std::string& text : given) {
    std::string file;
    const size_t i = find_named(text, tensors, &file);
    QRT_TRY(check_extension(text));
    if (i == tensors.size())
      files.push_back(text);
    else
      QRT_TRY(assignment.add_named(text, i, file));
  }
  for (const std::string& file : files) QRT_TRY(assignment.add(file));
  return assignment.finish();
}

}  // namespace qrt::tool
