# Set-up shared by all rooms: how MLIR is found, and one precompiled header for every library that includes it.

# A macro: upstream's functions read the variables that it sets.
macro(convbert_use_mlir)
  # The package's version file does not accept "22", so the version is tested by hand.
  find_package(MLIR REQUIRED CONFIG)
  if(NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR "requires LLVM/MLIR 22.1, but found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
  endif()
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  set(LLVM_RUNTIME_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/bin")
  set(LLVM_LIBRARY_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/lib")
  set(MLIR_BINARY_DIR "${CMAKE_BINARY_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  include(HandleLLVMOptions)
  # The distribution ships dylibs; MLIRConfig.cmake does not say so.
  set(MLIR_LINK_MLIR_DYLIB ON)
  set(LLVM_INSTALL_TOOLCHAIN_ONLY ON)
  set(LLVM_TOOLS_DIR "${LLVM_TOOLS_BINARY_DIR}")
  separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  add_definitions(${LLVM_DEFINITIONS_LIST})
  add_compile_options(-Wall -Wextra -Wno-unused-parameter)

  # The MLIR headers take seconds to parse; every room shares one parse.
  add_library(convbert_pch STATIC "${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp")
  target_precompile_headers(convbert_pch PRIVATE "${CMAKE_SOURCE_DIR}/cmake/Precompiled.h")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # With a time stamp in the header, ccache would find nothing again.
    target_compile_options(convbert_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endmacro()

# convbert_add_library(NAME sources... [DEPENDS targets...] [LINK_LIBS libraries...])
# A room's archive.  Its object files become part of libconvbert.so, and unit tests link the archive.
function(convbert_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  target_precompile_headers(${name} REUSE_FROM convbert_pch)
  set_property(GLOBAL APPEND PROPERTY CONVBERT_ROOMS ${name})
endfunction()
