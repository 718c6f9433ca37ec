// SPDX-License-Identifier: Apache-2.0
// Runs the command line tools: their output, messages and exit statuses. Files live in a directory
// of the test's own, removed at its end.
#ifndef QRT_TESTS_SUPPORT_COMMAND_H_
#define QRT_TESTS_SUPPORT_COMMAND_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/within_limits.h"

namespace qrt::testing {

struct CommandResult {
  int status = -1;  // exit status, or 128 + signal
  std::string out, err;
};

class CommandTest : public ::testing::Test {
 protected:
  CommandTest() {
    char name[] = "/tmp/qrt_test_XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~CommandTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string write(const std::string& name, const std::vector<uint8_t>& content) const {
    return write(name, std::string(content.begin(), content.end()));
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // Runs a tool: a program of this build's bin directory.
  CommandResult run(const std::string& tool, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {std::string(QRT_BIN_DIR) + "/" + tool};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      redirect(path("stdout"), STDOUT_FILENO);
      redirect(path("stderr"), STDERR_FILENO);
      end_if_asleep();
      execv(argv[0], argv.data());
      _exit(127);
    }
    CommandResult result;
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return result;
    result.status = exit_status(status);
    result.out = read(path("stdout"));
    result.err = read(path("stderr"));
    return result;
  }

  // Checks that the tool ends with `status` and a message that holds `part`, and prints nothing but messages.
  void expect_failure(const std::string& tool, const std::vector<std::string>& arguments,
                      int status, const std::string& part) const {
    const CommandResult r = run(tool, arguments);
    EXPECT_EQ(r.status, status) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << "message: " << r.err << "part: " << part;
    EXPECT_EQ(r.out, "");
  }

 private:
  static void redirect(const std::string& path, int to) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, to);
    close(fd);
  }

  std::string directory_;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_COMMAND_H_
