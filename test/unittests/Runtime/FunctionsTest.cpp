// Compiled code that is in the process already.
#include "lib/Runtime/convbert-rt.h"

#include "test/unittests/Runtime/FakeModel.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace convbert::rt::test;

namespace {

class FunctionsTest : public testing::Test {
protected:
  void SetUp() override {
    handle = dlopen(CONVBERT_FAKE_MODEL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(handle) << dlerror();
    auto bind = [&](auto *&function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    };
    bind(functions.packed_bytes, "_mlir_ciface_packed_bytes");
    bind(functions.prepack_steps, "_mlir_ciface_prepack_steps");
    bind(functions.workspace_bytes, "_mlir_ciface_workspace_bytes");
    bind(functions.prepack, "_mlir_ciface_prepack");
    bind(functions.forward, "_mlir_ciface_forward");
  }
  void TearDown() override {
    convbert_rt_free(model);
    if (handle)
      dlclose(handle);
  }

  /// Loads and returns the message of a refusal.
  std::string load() {
    char *message = nullptr;
    // The name of the object is for messages: nothing of that name exists.
    status =
        convbert_rt_load_functions(describe("(in process)", weights.path).c_str(), &functions, 1, &model, &message);
    std::string error = message ? message : "";
    convbert_rt_string_free(message);
    return error;
  }

  WeightFile weights;
  void *handle = nullptr;
  convbert_rt_functions functions = {};
  convbert_rt_model *model = nullptr;
  convbert_rt_status status = CONVBERT_RT_OK;
};

TEST_F(FunctionsTest, RunsThem) {
  ASSERT_EQ(load(), "");
  std::vector<int64_t> ids = {0, 1, 2, 3}, info(4);
  std::vector<float> out(16, -7);
  const void *inputs[] = {ids.data(), nullptr, nullptr, nullptr};
  void *outputs[] = {out.data(), info.data()};
  EXPECT_EQ(convbert_rt_forward(model, 2, 2, nullptr, inputs, outputs, nullptr), CONVBERT_RT_OK);
  EXPECT_EQ(std::count(out.begin(), out.end(), -7.0f), 0);
}

TEST_F(FunctionsTest, RefusesAMissingOne) {
  functions.prepack = nullptr;
  EXPECT_EQ(load(), "functions: requires all five functions of compiled code, but found a null pointer");
  EXPECT_EQ(status, CONVBERT_RT_INVALID_ARGUMENT);
  EXPECT_EQ(model, nullptr);
}

} // namespace
