// The two kinds of failure that the C interface tells apart.
#pragma once

#include <stdexcept>
#include <string>

namespace convbert::rt {

/// The compiled object, the weight files or the machine do not allow what was asked.
class Failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A batch, an input or an option of the caller is outside what the model takes.
class InvalidArgument : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace convbert::rt
