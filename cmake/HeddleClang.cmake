# libheddle_clang: clang and lld of LLVM 19 as a library, for AMD architectures that hipRTC does not know. Opened at run time by src/jit, and
# built only where Debian's libclang-19-dev, libclang-cpp19-dev and liblld-19-dev are installed.
set(clang_library libheddle_clang.so.${PROJECT_VERSION_MAJOR})
target_compile_definitions(heddle_jit PRIVATE HEDDLE_CLANG_LIBRARY="${clang_library}")

find_path(CLANG_INCLUDE clang/CodeGen/CodeGenAction.h HINTS ${LLVM_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_library(CLANG_LIBRARY NAMES clang-cpp19 clang-cpp HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
find_library(LLD_ELF_LIBRARY lldELF HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
find_library(LLD_COMMON_LIBRARY lldCommon HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
if(CLANG_INCLUDE AND CLANG_LIBRARY AND LLD_ELF_LIBRARY AND LLD_COMMON_LIBRARY)
  set(HEDDLE_CLANG ON)
  add_library(heddle_clang SHARED ${CMAKE_SOURCE_DIR}/src/jit/clang/clang_entry.cpp)
  target_include_directories(heddle_clang PRIVATE ${CMAKE_SOURCE_DIR})
  target_include_directories(heddle_clang SYSTEM PRIVATE ${CLANG_INCLUDE})
  target_link_directories(heddle_clang PRIVATE ${LLVM_LIBRARY_DIRS})
  # lld is a static archive: only the entry point leaves the library.
  target_link_libraries(heddle_clang PRIVATE ${LLD_ELF_LIBRARY} ${LLD_COMMON_LIBRARY} ${CLANG_LIBRARY} LLVM -Wl,--exclude-libs,ALL)
  target_compile_options(heddle_clang PRIVATE -fno-rtti)
  set_target_properties(heddle_clang PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} CXX_VISIBILITY_PRESET hidden)
  heddle_warnings(heddle_clang)
else()
  set(HEDDLE_CLANG OFF)
  message(STATUS "clang and lld of LLVM 19 are not installed as libraries: gfx942 is left out (scripts/setup.sh installs them)")
endif()
