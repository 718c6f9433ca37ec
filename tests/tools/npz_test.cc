// SPDX-License-Identifier: Apache-2.0
// Inputs and expected outputs in .npz archives: which array is for which tensor, and what is refused.
#include "runtime/tools/npz.h"

#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/model_builder.h"
#include "tests/support/zip.h"

namespace qrt::npz_test {
namespace {

using testing::CommandResult;
using testing::ZipMember;

class Npz : public testing::CommandTest {
 protected:
  // y = a + b, uint8 [batch, 3] each.
  Npz() {
    testing::ModelBuilder m;
    const uint32_t a = m.input({-1, 3}, DType::kUInt8, "a"),
                   b = m.input({-1, 3}, DType::kUInt8, "b");
    const uint32_t y = m.output({-1, 3}, DType::kUInt8, "y");
    fb::AddOptionsT add;
    add.a_scale = add.b_scale = testing::float_bits(1.0f);
    m.op(std::move(add), {a, b}, {y});
    model_ = write("model.qrt", m.build());
  }
  static ZipMember array(const std::string& name, const std::vector<uint8_t>& data) {
    const auto n = static_cast<int64_t>(data.size() / 3);
    return {name + ".npy", tool::npy_content(DType::kUInt8, {n, 3}, data.data(), data.size())};
  }
  std::string archive(const std::string& name, const std::vector<ZipMember>& members,
                      bool packed = false) const {
    return write(name, testing::zip(members, packed));
  }
  std::string sums(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), model_);
    arguments.insert(arguments.end(), {"--print", "3"});
    const CommandResult r = run("qrt_run", arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    const size_t line = r.out.find('\n') + 1;
    return r.out.substr(line, r.out.find('\n', line) - line);
  }

  std::string model_;
  const ZipMember a_ = array("a", {1, 2, 3}), b_ = array("b", {10, 20, 30});
};

TEST_F(Npz, ArraysAreForTheInputsOfTheirNames) {
  for (const bool packed : {false, true}) {
    const std::string both = archive("in.npz", {b_, a_}, packed);
    EXPECT_EQ(sums({both}), "  11 22 33") << packed;
  }
  // One of them, and a file for the other.
  const std::string only_b = archive("b.npz", {b_});
  const std::string a = write("a.npy", a_.content);
  EXPECT_EQ(sums({a, only_b}), "  11 22 33");
  EXPECT_EQ(sums({only_b, a}), "  11 22 33");
  EXPECT_EQ(sums({"--input", "b=" + only_b, a}), "  11 22 33");
}

TEST_F(Npz, ArraysWithoutNamesComeInOrder) {
  const std::string both =
      archive("in.npz", {array("arr_0", {1, 2, 3}), array("arr_1", {10, 20, 30})});
  EXPECT_EQ(sums({both}), "  11 22 33");
  const std::string one = archive("one.npz", {array("whatever", {5, 5, 5})});
  EXPECT_EQ(sums({one, write("b.npy", b_.content)}), "  15 25 35");
  EXPECT_EQ(sums({"--input", "a=" + one, "--input", "b=" + one}), "  10 10 10");
}

TEST_F(Npz, HoldsWhatOutputsMustBe) {
  const std::string in = archive("in.npz", {a_, b_});
  const std::string right = archive("y.npz", {array("y", {11, 22, 33})});
  const std::string wrong = archive("wrong.npz", {array("y", {11, 22, 34}), a_});
  EXPECT_EQ(run("qrt_run", {model_, in, "--expect", right}).status, 0);
  const CommandResult r = run("qrt_run", {model_, in, "--expect", "y=" + wrong});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("expect output_0 'y': 1 of 3 differ, the first at 2: 33, expected 34"),
            std::string::npos)
      << r.out;
  expect_failure("qrt_run", {model_, in, "--expect", archive("n.npz", {a_, b_})}, 2,
                 "--expect: 2 arrays are for no output of the model: '" + path("n.npz[a]") +
                     "', '" + path("n.npz[b]") + "'; 1 output has no array: 'y'");
}

// Arrays that are for nothing are refused: otherwise nobody would notice that an array was not
// read, or an output not compared.
TEST_F(Npz, ArraysThatAreForNothingAreRefused) {
  const std::string more = archive("more.npz", {a_, b_, array("c", {0, 0, 0})});
  const std::string unused = "1 array is for no input of the model: '" + path("more.npz[c]") +
                             "'; the model has 2 inputs: 'a', 'b'";
  expect_failure("qrt_run", {model_, more}, 2, unused);
  expect_failure("qrt_bench", {model_, "--seconds", "0", "--input", more}, 2, unused);
  // A name in front of the file says which array is meant.
  EXPECT_EQ(sums({"--input", "a=" + more, "--input", "b=" + more}), "  11 22 33");
  const std::string misspelt = archive("misspelt.npz", {a_, array("B", {10, 20, 30})});
  expect_failure("qrt_run", {model_, misspelt}, 2,
                 "'" + path("misspelt.npz[B]") + "'; 1 input has no array: 'b'; the model has 2");
  // An input is given again, in another file or under its own name.
  const std::string in = archive("in.npz", {a_, b_});
  expect_failure("qrt_run", {model_, in, archive("again.npz", {a_})}, 2,
                 "'" + path("again.npz[a]") + "'");
  expect_failure("qrt_run", {model_, in, write("a.npy", a_.content)}, 2, "'" + path("a.npy") + "'");
  expect_failure("qrt_run", {model_, "--input", "a=" + write("a.npy", a_.content), in}, 2,
                 "'" + path("in.npz[a]") + "'");
  const std::string numbered =
      archive("numbered.npz",
              {array("arr_0", {1, 2, 3}), array("arr_1", {10, 20, 30}), array("arr_2", {0, 0, 0})});
  expect_failure("qrt_run", {model_, numbered}, 2, "'" + path("numbered.npz[arr_2]") + "'");
  // An expected array's name that no output has, in front of the file.
  expect_failure("qrt_run", {model_, in, "--expect", "Y=" + write("y.npy", a_.content)}, 2,
                 "no output of the model has this name, and no file is called so; they are 'y'");
}

TEST_F(Npz, IsTakenByTheOtherTools) {
  EXPECT_EQ(
      run("qrt_bench", {model_, "--seconds", "0", "--input", archive("in.npz", {a_, b_})}).status,
      0);
}

TEST_F(Npz, DamageWithinCompressedArraysIsFound) {
  const std::string whole = testing::zip({a_, b_}, true);
  // The checksum of each array, in the archive's directory, is changed.
  for (size_t at = 0; (at = whole.find("PK\1\2", at)) != std::string::npos; ++at) {
    std::string other = whole;
    other[at + 16] = static_cast<char>(other[at + 16] ^ 1);
    expect_failure("qrt_run", {model_, write("damaged.npz", other)}, 3,
                   "damaged.npz: is not a whole .npz (zip) file");
  }
}

TEST_F(Npz, DamageWithinStoredArraysIsFound) {
  const std::string whole = testing::zip({a_, b_}, false);
  for (const std::string& data : {a_.content, b_.content}) {
    const size_t at = whole.find(data);
    for (const size_t byte : {data.size() - 1, data.size() - 3}) {
      std::string other = whole;
      other[at + byte] = static_cast<char>(other[at + byte] ^ 4);
      expect_failure("qrt_run", {model_, write("damaged.npz", other)}, 3,
                     "is damaged: the checksum is another");
    }
  }
}

TEST_F(Npz, EncryptedArraysAreRefused) {
  for (const bool packed : {false, true}) {
    std::string other = testing::zip({a_, b_}, packed);
    for (size_t at = 0; (at = other.find("PK\1\2", at)) != std::string::npos; ++at)
      other[at + 8] = static_cast<char>(other[at + 8] | 1);
    expect_failure("qrt_run", {model_, write("secret.npz", other)}, 4,
                   "secret.npz: its array 'a' is encrypted");
  }
}

TEST_F(Npz, SaysWhatItLacks) {
  const std::string in = archive("in.npz", {a_, array("c", {0, 0, 0})});
  expect_failure("qrt_run", {model_, archive("a.npz", {a_})}, 2,
                 "no file for input 1 'b' (uint8 [-1, 3])");
  expect_failure("qrt_run", {model_, "--input", "b=" + in}, 2,
                 "in.npz: holds no array for 'b': it has 'a', 'c'");
  expect_failure("qrt_run", {model_, write("text.npz", "text")}, 3,
                 "text.npz: is not a whole .npz (zip) file");
  expect_failure("qrt_run", {model_, archive("none.npz", {})}, 3, "none.npz: holds no arrays");
  expect_failure("qrt_run", {model_, path("absent.npz")}, 5, "absent.npz: No such file");
  expect_failure("qrt_run", {model_, "input_0.pb"}, 3,
                 "input_0.pb: is an ONNX tensor, expected .npy or .npz: qrt_convert MODEL.onnx");
  const std::string shape = archive("s.npz", {a_, array("b", {1, 2, 3, 4, 5, 6})});
  expect_failure("qrt_run", {model_, shape}, 3, "s.npz[b]: 'batch' is 2");
}

}  // namespace
}  // namespace qrt::npz_test
