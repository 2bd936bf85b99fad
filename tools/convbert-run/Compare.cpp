//===- Compare.cpp - What came out, and whether it is right ---------------===//

#include "tools/convbert-run/Binding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::convbert;

/// "[0, 3, 17]" for element `index` of an array of `shape`.
static std::string printIndex(int64_t index, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0; index /= shape[i])
    at[i] = index % shape[i];
  return llvm::formatv("[{0:$[, ]}]", llvm::make_range(at.begin(), at.end()));
}

/// Four digits, and an exponent where it helps.
static std::string print(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

llvm::Expected<bool> convbert::checkOutput(StringRef name, const Array &found, const Array &expected, double tolerance,
                                           raw_ostream &os) {
  if (found.shape != expected.shape)
    return llvm::createStringError(name + ": requires " + describe(expected.dtype, expected.shape) +
                                   " as the file says, but found " + describe(found.dtype, found.shape));
  double worst = 0;
  int64_t where = 0, wrong = 0;
  for (int64_t i = 0, e = found.size(); i < e; ++i) {
    double x = found.at(i), y = expected.at(i);
    double difference = x == y || (std::isnan(x) && std::isnan(y)) ? 0 : std::abs(x - y);
    if (std::isnan(difference))
      difference = INFINITY;
    wrong += difference > tolerance;
    if (difference > worst) {
      worst = difference;
      where = i;
    }
  }
  os << llvm::formatv("check {0}: {1}, largest difference {2} (allowed {3})", name, wrong ? "WRONG" : "ok",
                      print(worst), print(tolerance));
  if (wrong)
    os << llvm::formatv(" in {0} of {1} elements; at {2} found {3}, expected {4}", wrong, found.size(),
                        printIndex(where, found.shape), print(found.at(where)), print(expected.at(where)));
  os << "\n";
  return wrong == 0;
}

void convbert::summarize(StringRef name, const Array &array, raw_ostream &os) {
  double least = INFINITY, most = -INFINITY, sum = 0;
  int64_t nans = 0, size = array.size();
  for (int64_t i = 0; i < size; ++i) {
    double value = array.at(i);
    nans += std::isnan(value);
    least = std::fmin(least, value);
    most = std::fmax(most, value);
    sum += std::isnan(value) ? 0 : value;
  }
  os << name << ": " << describe(array.dtype, array.shape);
  if (size > nans)
    os << llvm::formatv(", from {0} to {1}, mean {2}", print(least), print(most), print(sum / (size - nans)));
  if (nans)
    os << llvm::formatv(", {0} NaN", nans);
  os << "\n";
}
