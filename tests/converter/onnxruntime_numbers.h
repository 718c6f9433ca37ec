#ifndef QRT_TESTS_CONVERTER_ONNXRUNTIME_NUMBERS_H_
#define QRT_TESTS_CONVERTER_ONNXRUNTIME_NUMBERS_H_
#include <map>
#include <string>
#include <vector>
namespace qrt::testing {
inline const std::map<std::string, std::vector<float>>& onnxruntime_numbers() {
  static const std::map<std::string, std::vector<float>> numbers = {};
  return numbers;
}
}  // namespace qrt::testing
#endif
