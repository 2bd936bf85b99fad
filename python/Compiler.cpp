// convbert._compiler: the compiler's C interface.  Importing it loads libconvbert.so and with it LLVM.
#include "lib/CAPI/convbert-c.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

/// The compiler's JSON.  Raises RuntimeError with its one-line message if there is none.
static nb::str take(char *result, char *error) {
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

/// The compiler's JSON for a checkpoint.
static nb::str answer(char *(*function)(const char *, const char *, char **), const nb::bytes &directory,
                      const std::string &options) {
  char *error = nullptr;
  char *result;
  {
    nb::gil_scoped_release release;
    result = function(directory.c_str(), options.c_str(), &error);
  }
  return take(result, error);
}

static nb::str compileCheckpoint(const nb::bytes &directory, const std::string &options) {
  return answer(convbert_compile_checkpoint, directory, options);
}

static nb::str inspectCheckpoint(const nb::bytes &directory, const std::string &options) {
  return answer(convbert_inspect_checkpoint, directory, options);
}

/// The same for the text or bytecode of a module.
static nb::str answerModule(char *(*function)(const char *, size_t, const char *, char **), const nb::bytes &ir,
                            const std::string &options) {
  char *error = nullptr;
  char *result;
  {
    nb::gil_scoped_release release;
    result = function(ir.c_str(), ir.size(), options.c_str(), &error);
  }
  return take(result, error);
}

static nb::str compileModule(const nb::bytes &ir, const std::string &options) {
  return answerModule(convbert_compile_module, ir, options);
}

static nb::str inspectModule(const nb::bytes &ir, const std::string &options) {
  return answerModule(convbert_inspect_module, ir, options);
}

/// What a checkpoint is, as lines of text, and why it cannot be compiled (one line, or nothing).
static nb::tuple explainCheckpoint(const nb::bytes &directory) {
  char *error = nullptr;
  char *text = convbert_explain_checkpoint(directory.c_str(), &error);
  nb::tuple result = nb::make_tuple(nb::str(text ? text : ""), nb::str(error ? error : ""));
  convbert_string_free(text);
  convbert_string_free(error);
  return result;
}

NB_MODULE(_compiler, m) {
  m.doc() = "Compiles checkpoints; see convbert.load() for the interface meant for users.";
  m.attr("__version__") = convbert_version();
  m.def("compile_checkpoint", &compileCheckpoint, nb::arg("directory"), nb::arg("options"),
        "Compiles the checkpoint in a directory (bytes), or finds it in the cache; options and result are JSON.");
  m.def("inspect_checkpoint", &inspectCheckpoint, nb::arg("directory"), nb::arg("options"),
        "Says what the checkpoint in a directory (bytes) is and what it costs; options and result are JSON.");
  m.def("compile_module", &compileModule, nb::arg("ir"), nb::arg("options"),
        "Compiles a module (text or bytecode, as bytes), or finds it in the cache; options and result are JSON.");
  m.def("inspect_module", &inspectModule, nb::arg("ir"), nb::arg("options"),
        "Says what the operations of a module cost; options and result are JSON.");
  m.def("explain_checkpoint", &explainCheckpoint, nb::arg("directory"),
        "Explains the checkpoint in a directory (bytes): lines of text, and why it is refused or an empty string.");
}
