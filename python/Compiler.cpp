// convbert._compiler: the compiler's C interface.  Importing it loads libconvbert.so and with it LLVM.
#include "lib/CAPI/convbert-c.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

/// The compiler's JSON for a checkpoint.  Raises RuntimeError with its one-line message.
static nb::str compileCheckpoint(const nb::bytes &directory, const std::string &options) {
  char *error = nullptr;
  char *result;
  {
    nb::gil_scoped_release release;
    result = convbert_compile_checkpoint(directory.c_str(), options.c_str(), &error);
  }
  if (!result) {
    std::string message = error ? error : "unknown error";
    convbert_string_free(error);
    PyErr_SetString(PyExc_RuntimeError, message.c_str());
    throw nb::python_error();
  }
  nb::str text(result);
  convbert_string_free(result);
  return text;
}

NB_MODULE(_compiler, m) {
  m.doc() = "Compiles checkpoints; see convbert.load() for the interface meant for users.";
  m.attr("__version__") = convbert_version();
  m.def("compile_checkpoint", &compileCheckpoint, nb::arg("directory"), nb::arg("options"),
        "Compiles the checkpoint in a directory (bytes), or finds it in the cache; options and result are JSON.");
}
