//===- Array.cpp - A dense array ------------------------------------------===//

#include "tools/convbert-run/Array.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::convbert;
using llvm::StringRef;

int64_t convbert::getElementBytes(StringRef dtype) {
  return llvm::StringSwitch<int64_t>(dtype)
      .Cases({"bool", "int8", "uint8"}, 1)
      .Cases({"int16", "uint16", "float16", "bfloat16"}, 2)
      .Cases({"int32", "uint32", "float32"}, 4)
      .Cases({"int64", "uint64", "float64"}, 8)
      .Default(0);
}

llvm::Expected<int64_t> convbert::countBytes(StringRef dtype, llvm::ArrayRef<int64_t> shape) {
  int64_t bytes = getElementBytes(dtype);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes) || bytes >> 62)
      return llvm::createStringError("requires sizes >= 0 whose product fits 62 bits, but found " +
                                     describe(dtype, shape));
  return bytes;
}

std::string convbert::describe(StringRef dtype, llvm::ArrayRef<int64_t> shape) {
  return llvm::formatv("{0} [{1:$[, ]}]", dtype, llvm::make_range(shape.begin(), shape.end()));
}

int64_t Array::size() const { return bytes.size() / getElementBytes(dtype); }

static double decodeHalf(const char *data, const llvm::fltSemantics &semantics) {
  llvm::APFloat value(semantics, llvm::APInt(16, llvm::support::endian::read16le(data)));
  return value.convertToDouble();
}

template <typename T> static T load(const char *data) {
  return llvm::support::endian::read<T, llvm::endianness::little>(data);
}

double Array::at(int64_t index) const {
  const char *data = bytes.data() + index * getElementBytes(dtype);
  StringRef type(dtype);
  if (type == "float32")
    return llvm::bit_cast<float>(load<uint32_t>(data));
  if (type == "float64")
    return llvm::bit_cast<double>(load<uint64_t>(data));
  if (type == "float16")
    return decodeHalf(data, llvm::APFloat::IEEEhalf());
  if (type == "bfloat16")
    return decodeHalf(data, llvm::APFloat::BFloat());
  bool isSigned = type.starts_with("int");
  switch (getElementBytes(type)) {
  case 1:
    return isSigned ? load<int8_t>(data) : load<uint8_t>(data);
  case 2:
    return isSigned ? load<int16_t>(data) : load<uint16_t>(data);
  case 4:
    return isSigned ? load<int32_t>(data) : load<uint32_t>(data);
  default:
    return isSigned ? load<int64_t>(data) : static_cast<double>(load<uint64_t>(data));
  }
}

/// Element of an array of integers or booleans; fails for uint64 above the int64 range.
static std::optional<int64_t> getInteger(const Array &array, int64_t index) {
  int64_t width = getElementBytes(array.dtype);
  if (width < 8)
    return static_cast<int64_t>(array.at(index));
  auto value = static_cast<int64_t>(load<uint64_t>(array.bytes.data() + index * width));
  if (array.dtype == "uint64" && value < 0)
    return std::nullopt;
  return value;
}

llvm::Expected<Array> convbert::convertTo(const Array &array, StringRef dtype, const llvm::Twine &name) {
  if (dtype == array.dtype)
    return array;
  auto isFloat = [](StringRef type) { return type.contains("float"); };
  if (isFloat(dtype) || isFloat(array.dtype))
    return llvm::createStringError(name + ": requires elements of type " + dtype + ", but found " +
                                   describe(array.dtype, array.shape));
  Array result{dtype.str(), array.shape, {}};
  int64_t width = getElementBytes(dtype);
  bool isUnsigned = !dtype.starts_with("int");
  unsigned bits = dtype == "bool" ? 1 : 8 * width;
  result.bytes.resize(array.size() * width);
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    std::optional<int64_t> value = getInteger(array, i);
    bool fits =
        value && (isUnsigned ? *value >= 0 && (bits == 64 || llvm::isUIntN(bits, *value)) : llvm::isIntN(bits, *value));
    if (!fits)
      return llvm::createStringError(llvm::formatv("{0}: requires values that fit {1}, but found {2} at element {3}",
                                                   name.str(), dtype, value ? std::to_string(*value) : "a larger one",
                                                   i));
    for (int64_t byte = 0; byte < width; ++byte)
      result.bytes[i * width + byte] = static_cast<char>(*value >> (8 * byte));
  }
  return result;
}
