// SPDX-License-Identifier: Apache-2.0
// Changes one to three words of the symbol, which is JSON, or numbers of the params: bytes at random seldom leave either
// whole.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_numbers.h"
#include "tests/support/cvm_models.h"

namespace qrt::fuzz {
namespace {

// A word of the symbol file.
struct Word {
  size_t at, size;
};

// Finds the words of shapes and attributes that are numbers.
std::vector<Word> numbers_of(const std::string& symbol) {
  constexpr const char* kDigits = "0123456789";
  std::vector<Word> numbers;
  for (size_t at = symbol.find_first_of(kDigits); at != std::string::npos;) {
    const size_t end = std::min(symbol.find_first_not_of(kDigits, at), symbol.size());
    const bool is_negative = at > 0 && symbol[at - 1] == '-';
    numbers.push_back({at - is_negative, end - at + is_negative});
    at = symbol.find_first_of(kDigits, end);
  }
  return numbers;
}

std::vector<Word> texts_of(const std::string& symbol) {
  std::vector<Word> texts;
  for (size_t at = symbol.find('"'); at != std::string::npos; at = symbol.find('"', at + 1)) {
    const size_t end = symbol.find('"', ++at);
    if (end == std::string::npos) break;
    texts.push_back({at, end - at});
    at = end;
  }
  return texts;
}

class CvmMutator {
 public:
  explicit CvmMutator(unsigned seed) : any_(seed) {}

  void run(testing::CvmModel* model) {
    for (int n = 1 + any_.below(3); n > 0; --n) {
      switch (any_.below(4)) {
        case 0: text(&model->symbol); break;
        case 1: parameter(&model->params); break;
        default: number(&model->symbol);
      }
    }
  }

 private:
  void number(std::string* symbol) {
    const std::vector<Word> numbers = numbers_of(*symbol);
    if (numbers.empty()) return;
    const Word& word = numbers[any_.pick(numbers.size())];
    const int64_t now = strtoll(symbol->c_str() + word.at, nullptr, 10);
    symbol->replace(word.at, word.size, std::to_string(any_.value(now)));
  }

  // Changes a text: an operator becomes another of the file, a name another's.
  void text(std::string* symbol) {
    const std::vector<Word> texts = texts_of(*symbol);
    if (texts.empty()) return;
    const Word &from = texts[any_.pick(texts.size())], &to = texts[any_.pick(texts.size())];
    symbol->replace(to.at, to.size, symbol->substr(from.at, from.size));
  }

  void parameter(std::vector<uint8_t>* params) {
    int32_t now;
    if (params->size() < sizeof now) return;
    uint8_t* at = params->data() + any_.pick(params->size() / sizeof now) * sizeof now;
    memcpy(&now, at, sizeof now);
    now = static_cast<int32_t>(any_.value(now));
    memcpy(at, &now, sizeof now);
  }

  NumberMutator any_;
};

}  // namespace

std::vector<uint8_t> mutate_cvm(const std::vector<uint8_t>& file, unsigned seed) {
  if (file.size() < 4) return {};
  testing::CvmModel model = testing::split(file.data(), file.size());
  CvmMutator(seed).run(&model);
  return testing::joined(model);
}

}  // namespace qrt::fuzz
