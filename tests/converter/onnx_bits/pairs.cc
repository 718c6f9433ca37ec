// SPDX-License-Identifier: Apache-2.0
// Pairs of QuantizeLinear and DequantizeLinear in a row.
#include <functional>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

void pairs_merge_behind_what_changes_nothing(BitsModel& m) {
  const std::vector<std::function<std::string(std::string)>> nothing = {
      [&](std::string x) {
        return m.b.node("Mul", {x, m.b.scalar(1.0f)});
      },
      [&](std::string x) {
        return m.b.node("Mul", {m.b.scalar(1.0f), x});
      },
      [&](std::string x) {
        return m.b.node("Div", {x, m.b.scalar(1.0f)});
      },
      [&](std::string x) {
        return m.b.node("Add", {x, m.b.scalar(0.0f)});
      },
      [&](std::string x) {
        return m.b.node("Sub", {x, m.b.scalar(0.0f)});
      },
      [&](std::string x) {
        return m.b.node("Cast", {x}, {{"to", 1}});
      },
      [&](std::string x) {
        return m.b.node("Expand", {x, m.ints({1, 4, 3})});
      },
      [&](std::string x) {
        return m.b.node("Slice", {x, m.ints({0}), m.ints({INT64_MAX}), m.ints({1})});
      },
      [&](std::string x) {
        const std::vector<Attr> swap = {{"perm", Dims{0, 2, 1}}};
        return m.b.node("Transpose", {m.b.node("Transpose", {x}, swap)}, swap);
      }};
  for (const auto& f : nothing)
    m.b.output(m.b.qdq<uint8_t>(f(m.image({1, 4, 3}, 0.03f, 100)), 0.017f, 90));
}

void pairs_do_not_merge_behind_reshape(BitsModel& m) {
  m.b.output(m.b.qdq<uint8_t>(
      m.b.node("Reshape", {m.image({1, 4, 3}, 0.03f, 100), m.ints({1, 12})}), 0.017f, 90));
}

void pairs_merge_where_equal_nodes_read_the_second(BitsModel& m) {
  const std::string second = m.b.q<uint8_t>(m.image({1, 4, 3}, 0.03f, 100), 0.017f, 90);
  m.b.output(m.b.dq<uint8_t>(second, 0.017f, 90));
  m.stored(m.b.node("Add", {m.b.dq<uint8_t>(second, 0.017f, 90), m.image({1, 4, 3})}));
}

void pairs_of_16_bits_merge(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(21);
  m.b.output(
      m.b.qdq<uint16_t>(m.b.qdq<uint16_t>(m.real({1, 4, 3}), 0.0001f, 30000), 0.00007f, 20000));
}

void pairs_of_almost_equal_scales_keep_both(BitsModel& m) {
  const float first = 0.9e-20f, second = 1.1e-20f;
  m.b.output(
      m.b.qdq<uint8_t>(m.b.qdq<uint8_t>(m.real({1, 4, 3}, 1e-18f), first, 128), second, 128));
}

std::string transposed(BitsModel& m, const std::string& x, const Dims& perm) {
  return m.b.node("Transpose", {x}, {{"perm", perm}});
}

// Adds a pair in front of two Transposes, which ONNX Runtime makes one, so that pairs follow each other.
void pair_before_two_transposes(BitsModel& m) {
  const std::string x = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 2, 1});
  m.b.output(m.b.qdq<uint8_t>(transposed(m, x, {1, 0, 2}), 0.017f, 90));
}

void pair_before_two_transposes_of_opset_21(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(21);
  pair_before_two_transposes(m);
}

void pairs_before_and_between_two_transposes(BitsModel& m) {
  const std::string x = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 2, 1});
  m.b.output(transposed(m, m.b.qdq<uint8_t>(x, 0.017f, 90), {1, 0, 2}));
}

void pairs_around_two_transposes(BitsModel& m) {
  const std::string x = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 2, 1});
  const std::string y = transposed(m, m.b.qdq<uint8_t>(x, 0.017f, 90), {1, 0, 2});
  m.b.output(m.b.qdq<uint8_t>(y, 0.013f, 110));
}

void pairs_around_a_transpose_of_nothing(BitsModel& m) {
  const std::string x = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 1, 2});
  const std::string y = m.b.qdq<uint8_t>(x, 0.017f, 90);
  m.b.output(transposed(m, y, {0, 2, 1}));
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {y}), 1.0f / 256, 0));
  const std::string w = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 1, 2});
  const std::string second = m.b.q<uint8_t>(w, 0.017f, 90);
  m.b.output(transposed(m, m.b.dq<uint8_t>(second, 0.017f, 90), {0, 2, 1}));
  m.b.output(
      m.b.qdq<uint8_t>(m.b.node("Sigmoid", {m.b.dq<uint8_t>(second, 0.017f, 90)}), 1.0f / 256, 0));
  const std::string z = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 1, 2});
  m.b.output(m.b.qdq<uint8_t>(z, 0.017f, 90));
}

void pair_before_transpose_and_reshape(BitsModel& m) {
  const std::string x = transposed(m, m.image({2, 4, 3}, 0.03f, 100), {0, 2, 1});
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Reshape", {x, m.ints({6, 4})}), 0.017f, 90));
}

// Adds rows of several pairs: ONNX Runtime merges every two, and again, which decides the order of rounding.
void pairs_in_rows_of_several(BitsModel& m) {
  for (const char* row : {"bcb", "bcbc", "bcbcbc", "cbbcbcb", "bcxbcb", "bxcbxc", "bcbxc"}) {
    std::string x = m.real({2, 4, 3});
    for (const char* p = row; *p != '\0'; ++p) {
      if (*p == 'b') x = m.b.qdq<uint8_t>(x, 0.017f, 180);
      if (*p == 'c') x = m.b.qdq<uint8_t>(x, 0.023f, 2);
      if (*p == 'x') x = transposed(m, transposed(m, x, {0, 2, 1}), {0, 2, 1});
    }
    m.b.output(x);
  }
}

// Adds a pair between inverse Transposes, which ONNX Runtime removes, whatever is in front of them.
void pair_between_inverse_transposes(BitsModel& m) {
  const auto turned = [&](const std::string& x) {
    const std::string y = m.b.qdq<uint8_t>(transposed(m, x, {0, 2, 3, 1}), 0.017f, 180);
    return m.b.qdq<uint8_t>(transposed(m, y, {0, 3, 1, 2}), 0.023f, 2);
  };
  m.b.output(turned(m.image({1, 3, 2, 4}, 0.03f, 100)));
  m.b.output(turned(m.real({1, 3, 2, 4})));
  m.b.output(turned(m.b.node("Reshape", {m.image({1, 6, 4}, 0.03f, 100), m.ints({1, 3, 2, 4})})));
  m.b.output(turned(m.b.node("Sigmoid", {m.image({1, 3, 2, 4}, 0.03f, 100)})));
  m.b.output(turned(turned(m.b.node("Abs", {m.image({1, 3, 2, 4}, 0.03f, 100)}))));
}

// Adds pairs that meet behind a Slice. ONNX Runtime puts a pair in front of the Slice, where there
// is none, before it removes the Transposes.
void pairs_that_meet_behind_a_slice(BitsModel& m) {
  const auto sliced = [&](const std::string& x) {
    return m.b.node("Slice", {x, m.ints({1}), m.ints({3}), m.ints({1})});
  };
  const auto reshaped = [&](const std::string& x, const Dims& dims) {
    return m.b.node("Reshape", {x, m.ints(dims)});
  };
  const auto other = [&](const std::string& x) {
    return m.b.qdq<uint8_t>(
        transposed(m, transposed(m, m.b.qdq<uint8_t>(x, 0.0019f, 0), {0, 2, 1}), {0, 2, 1}),
        0.0033f, 128);
  };
  const auto around = [&](const std::string& x) {
    const std::string y = m.b.qdq<uint8_t>(transposed(m, x, {0, 2, 1}), 0.0019f, 0);
    return m.b.qdq<uint8_t>(transposed(m, y, {0, 2, 1}), 0.0033f, 128);
  };
  const auto image = [&] { return m.image({2, 4, 3}, 0.001f, 128); };
  m.b.output(other(sliced(image())));
  m.b.output(other(sliced(m.real({2, 4, 3}))));
  m.b.output(other(sliced(m.b.node("Abs", {image()}))));
  m.b.output(other(sliced(reshaped(m.image({2, 12}, 0.001f, 128), {2, 4, 3}))));
  m.b.output(other(reshaped(sliced(m.image({2, 8, 3}, 0.001f, 128)), {3, 2, 2})));
  m.b.output(around(sliced(image())));
  m.b.output(around(sliced(m.real({2, 4, 3}))));
  m.b.output(around(sliced(m.b.node("Abs", {image()}))));
  m.b.output(around(sliced(reshaped(m.image({2, 12}, 0.001f, 128), {2, 4, 3}))));
}

void pairs_that_meet_behind_a_slice_of_opset_21(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(21);
  pairs_that_meet_behind_a_slice(m);
}

// ONNX Runtime puts a copy of the second pair between the two Transposes. Where several nodes read
// the second pair, this changes the result.
void pairs_around_inverse_transposes(BitsModel& m) {
  for (int readers : {1, 2, 3}) {
    const std::string x = m.b.qdq<uint8_t>(m.real({2, 4, 3}, 20.0f), 0.125f, 167);
    const std::string y =
        m.b.qdq<uint8_t>(transposed(m, transposed(m, x, {0, 2, 1}), {0, 2, 1}), 0.0672237f, 25);
    for (int i = 0; i < readers; ++i)
      m.b.output(m.b.qdq<uint8_t>(m.b.node("Abs", {y}), 0.051f + 0.01f * static_cast<float>(i), 3));
  }
}

// Adds pairs and Transposes in rows. ONNX Runtime copies pairs to the other side of Transposes
// before it merges two pairs, or two Transposes.
void pairs_and_transposes_in_rows(BitsModel& m) {
  for (const char* row : {"bTcU", "bTcI", "bTbU", "bTbcU", "ccbT", "Tbbc", "Tbcb"}) {
    for (const bool is_last : {true, false}) {
      std::string x = m.real({2, 4, 3, 5});
      for (const char* p = row; *p != '\0'; ++p) {
        if (*p == 'b') x = m.b.qdq<uint8_t>(x, 0.017f, 180);
        if (*p == 'c') x = m.b.qdq<uint8_t>(x, 0.03f, 100);
        if (*p == 'T') x = transposed(m, x, {0, 2, 3, 1});
        if (*p == 'I') x = transposed(m, x, {0, 3, 1, 2});
        if (*p == 'U') x = transposed(m, x, {1, 0, 2, 3});
      }
      m.b.output(is_last ? x : m.b.qdq<uint8_t>(m.b.node("Sigmoid", {x}), 1.0f / 256, 0));
    }
  }
}

// Adds rows of pairs and moves that ONNX Runtime merges in several rounds. b, c: a pair of uint8;
// i: of int8; S: a Slice; T, I, U: Transposes; N: a Transpose that changes nothing; x: a Transpose
// between the two nodes of a pair.
void pairs_in_rows_of_many_rounds(BitsModel& m) {
  const auto row_behind = [&m](std::string x, const char* row) {
    for (const char* p = row; *p != '\0'; ++p) {
      if (*p == 'b') x = m.b.qdq<uint8_t>(x, 0.017f, 180);
      if (*p == 'c') x = m.b.qdq<uint8_t>(x, 0.03f, 100);
      if (*p == 'i') x = m.b.qdq<int8_t>(x, 0.021f, -40);
      if (*p == 'S') x = m.b.node("Slice", {x, m.ints({0}), m.ints({2}), m.ints({2})});
      if (*p == 'N') x = transposed(m, x, {0, 1, 2, 3});
      if (*p == 'T') x = transposed(m, x, {0, 2, 3, 1});
      if (*p == 'I') x = transposed(m, x, {0, 3, 1, 2});
      if (*p == 'U') x = transposed(m, x, {1, 0, 2, 3});
      if (*p == 'x')
        x = m.b.dq<uint8_t>(transposed(m, m.b.q<uint8_t>(x, 0.017f, 180), {0, 2, 3, 1}), 0.017f,
                            180);
    }
    return x;
  };
  for (const char* row :
       {"bTcUb", "bcTbU", "TbcTb", "bTbUc", "cTTbc", "bTISc", "xNNc", "bcbTcI", "bbi", "bciTc"}) {
    m.b.output(row_behind(m.real({2, 4, 3, 5}), row));
    const std::string x = row_behind(m.image({2, 4, 3, 5}, 0.03f, 100), row);
    m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {x}), 1.0f / 256, 0));
  }
  // Another node reads the Transpose, its integers, or its floats, in front of the row.
  const std::string turned = transposed(m, m.b.node("Abs", {m.image({2, 4, 3, 5})}), {0, 2, 3, 1});
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {turned}), 1.0f / 256, 0));
  m.b.output(row_behind(turned, "Tbbc"));
  const std::string q = m.b.q<uint8_t>(m.real({2, 4, 3, 5}), 0.023f, 40);
  m.b.output(row_behind(m.b.dq<uint8_t>(q, 0.023f, 40), "bc"));
  m.b.output(row_behind(m.b.dq<uint8_t>(q, 0.023f, 40), "c"));
  const std::string pair = row_behind(m.real({2, 4, 3, 5}), "c");
  m.b.output(row_behind(pair, "TIbc"));
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {pair}), 1.0f / 256, 0));
}

// Adds a pair in front of a Transpose and an Unsqueeze, which read the second pair's integers and its floats.
void pair_before_transpose_and_unsqueeze(BitsModel& m) {
  for (const bool turns : {false, true}) {
    const std::string same = m.b.node("Cast", {m.image({1, 5, 4}, 0.1f, 106)}, {{"to", 1}});
    const std::string x = transposed(m, same, {0, 2, 1});
    const std::string q = m.b.q<uint8_t>(m.b.node("Unsqueeze", {x, m.ints({2})}), 0.0542155f, 3);
    m.b.output(
        m.b.node("QLinearAdd",
                 {q, m.b.scalar(0.0542155f), m.b.scalar(uint8_t{3}), q, m.b.scalar(0.0542155f),
                  m.b.scalar(uint8_t{3}), m.b.scalar(0.326f), m.b.scalar(uint8_t{128})},
                 {}, "com.microsoft"));
    const std::string y = m.b.dq<uint8_t>(q, 0.0542155f, 3);
    m.b.output(m.b.qdq<uint8_t>(turns ? transposed(m, y, {0, 2, 3, 1}) : y, 0.07f, 147));
  }
}

void pair_before_two_transposes_of_nothing(BitsModel& m) {
  const auto same = [&](const std::string& x, const Dims& perm) {
    return m.b.qdq<uint8_t>(transposed(m, transposed(m, x, perm), perm), 0.017f, 90);
  };
  m.b.output(same(m.image({7}, 0.03f, 100), {0}));
  m.b.output(same(m.image({2, 3, 4}, 0.03f, 100), {0, 1, 2}));
  m.b.output(same(m.b.qdq<uint8_t>(m.b.node("Abs", {m.image({7}, 0.03f, 100)}), 0.025f, 100), {0}));
  const Dims none{0, 1};
  const std::string sum = m.b.node("Add", {m.image({2, 3}, 0.03f, 100), m.image({2, 3})});
  const std::string y = m.b.qdq<uint8_t>(transposed(m, sum, none), 0.03f, 128);
  m.b.output(m.b.qdq<uint8_t>(transposed(m, y, none), 0.02f, 110));
}

// Adds a pair between inverse Transposes, with another reader of the pair or of the first
// Transpose, which keeps both.
void pair_between_inverse_transposes_with_other_readers(BitsModel& m) {
  const std::vector<int64_t> there{0, 2, 3, 1}, back{0, 3, 1, 2};
  const std::string x = transposed(m, m.image({1, 3, 2, 4}, 0.03f, 100), there);
  const std::string y = m.b.qdq<uint8_t>(x, 0.017f, 180);
  m.b.output(m.b.qdq<uint8_t>(transposed(m, y, back), 0.023f, 2));
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {y}), 1.0f / 256, 0));
  const std::string z = transposed(
      m, m.b.node("Reshape", {m.image({1, 6, 4}, 0.03f, 100), m.ints({1, 3, 2, 4})}), there);
  m.b.output(m.b.qdq<uint8_t>(transposed(m, m.b.qdq<uint8_t>(z, 0.017f, 180), back), 0.023f, 2));
  m.b.output(m.b.qdq<uint8_t>(m.b.node("Sigmoid", {z}), 1.0f / 256, 0));
}

// Adds a pair in front of Transposes to one of two readers. A Transpose moves down to the other one
// behind one reader of the second pair, and stays for the other: the second QuantizeLinear then has
// two readers, and the pair in front of it merges without it.
void pair_before_transposes_to_one_of_two_readers(BitsModel& m) {
  const Dims none{0, 1, 2}, turn{0, 2, 1};
  const std::string x = transposed(m, transposed(m, m.image({1, 3, 4}, 0.03f, 100), none), turn);
  const std::string q = m.b.q<uint8_t>(x, 0.017f, 180);
  m.b.output(m.b.qdq<uint8_t>(transposed(m, m.b.dq<uint8_t>(q, 0.017f, 180), none), 0.017f, 180));
  m.b.output(
      m.b.qdq<uint8_t>(m.b.node("Sigmoid", {m.b.dq<uint8_t>(q, 0.017f, 180)}), 1.0f / 256, 0));
}

// Adds a Transpose that moves down once and stops in front of another: the pair that it gets in
// front of the Concat stays.
void pair_before_transpose_that_stops_before_another(BitsModel& m) {
  const Dims turn{0, 1, 3, 2};
  for (const float scale : {0.0030f, 0.0029f, 0.0027f, 0.0024f}) {
    const std::string first = m.b.qdq<uint8_t>(m.real({1, 1, 8, 8}, 0.4f), 0.0047f, 19);
    const std::string x = m.b.qdq<uint8_t>(transposed(m, first, turn), scale, 128);
    const std::string both = m.b.node("Concat", {x, m.image({1, 1, 8, 8}, 0.005f)}, {{"axis", 0}});
    const std::string q = m.b.q<uint8_t>(both, scale, 128);
    m.b.output(m.b.dq<uint8_t>(q, scale, 128));
    m.stored(m.b.node("Sigmoid", {transposed(m, m.b.dq<uint8_t>(q, scale, 128), turn)}), 1.0f / 256,
             0);
  }
}

// Adds pairs that merge behind a Slice, with an Expand that changes nothing behind a node that
// changes the shape.
void pairs_merge_behind_a_slice(BitsModel& m) {
  const std::string q = m.b.q<uint8_t>(m.real({2, 6}), 0.03f, 100);
  const std::string part =
      m.b.node("Slice", {m.b.dq<uint8_t>(q, 0.03f, 100), m.ints({0}), m.ints({3}), m.ints({1})});
  const std::string x = m.b.node("Expand", {m.b.qdq<uint8_t>(part, 0.03f, 100), m.ints({2, 3})});
  m.b.output(m.b.qdq<uint8_t>(x, 0.017f, 180));
  m.b.output(
      m.b.qdq<uint8_t>(m.b.node("Sigmoid", {m.b.dq<uint8_t>(q, 0.03f, 100)}), 1.0f / 256, 0));
}

// Adds pairs that merge in front of an Expand to an output. Two equal nodes make outputs, and one
// of them reads the output of an Expand that changes nothing, when equal nodes are merged.
void pairs_merge_in_front_of_an_expand_to_an_output(BitsModel& m) {
  const std::string x = m.b.qdq<uint8_t>(m.real({3, 4}, 0.4f), 0.03f, 100);
  const std::string q = m.b.q<uint8_t>(x, 0.017f, 180);
  const std::string same = m.b.node("Expand", {q, m.ints({3, 4})});
  m.b.output(m.b.dq<uint8_t>(q, 0.017f, 180));
  m.b.output(m.b.dq<uint8_t>(same, 0.017f, 180));
}

}  // namespace

std::vector<BitsCase> pair_cases() {
  return {
      {"PairsMergeBehindWhatChangesNothing", pairs_merge_behind_what_changes_nothing},
      {"PairsDoNotMergeBehindReshape", pairs_do_not_merge_behind_reshape},
      {"PairsMergeWhereEqualNodesReadTheSecond", pairs_merge_where_equal_nodes_read_the_second},
      {"PairBeforeTwoTransposes", pair_before_two_transposes},
      {"PairBeforeTwoTransposesOfOpset21", pair_before_two_transposes_of_opset_21},
      {"PairsBeforeAndBetweenTwoTransposes", pairs_before_and_between_two_transposes},
      {"PairsAroundTwoTransposes", pairs_around_two_transposes},
      {"PairsAroundATransposeOfNothing", pairs_around_a_transpose_of_nothing},
      {"PairBeforeTransposeAndReshape", pair_before_transpose_and_reshape},
      {"PairsInRowsOfSeveral", pairs_in_rows_of_several},
      {"PairsAndTransposesInRows", pairs_and_transposes_in_rows},
      {"PairsInRowsOfManyRounds", pairs_in_rows_of_many_rounds},
      {"PairBetweenInverseTransposes", pair_between_inverse_transposes},
      {"PairBetweenInverseTransposesWithOtherReaders",
       pair_between_inverse_transposes_with_other_readers},
      {"PairsThatMeetBehindASlice", pairs_that_meet_behind_a_slice},
      {"PairsThatMeetBehindASliceOfOpset21", pairs_that_meet_behind_a_slice_of_opset_21},
      {"PairsAroundInverseTransposes", pairs_around_inverse_transposes},
      {"PairBeforeTransposeAndUnsqueeze", pair_before_transpose_and_unsqueeze},
      {"PairBeforeTwoTransposesOfNothing", pair_before_two_transposes_of_nothing},
      {"PairBeforeTransposesToOneOfTwoReaders", pair_before_transposes_to_one_of_two_readers},
      {"PairBeforeTransposeThatStopsBeforeAnother",
       pair_before_transpose_that_stops_before_another},
      {"PairsMergeBehindASlice", pairs_merge_behind_a_slice},
      {"PairsMergeInFrontOfAnExpandToAnOutput", pairs_merge_in_front_of_an_expand_to_an_output},
      {"PairsOf16BitsMerge", pairs_of_16_bits_merge},
      {"PairsOfAlmostEqualScalesKeepBoth", pairs_of_almost_equal_scales_keep_both},
  };
}

}  // namespace qrt::testing
