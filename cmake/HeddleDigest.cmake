# Digest of all generator sources, of the interface of the compiler library, and of compiler versions: part of every cache key, and what
# tells libraries of two builds apart. No version is edited by hand.
file(GLOB_RECURSE generator_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/ir/*.* ${CMAKE_SOURCE_DIR}/src/analysis/*.* ${CMAKE_SOURCE_DIR}/src/plan/*.*
  ${CMAKE_SOURCE_DIR}/src/lower/*.* ${CMAKE_SOURCE_DIR}/src/codegen/*.* ${CMAKE_SOURCE_DIR}/src/jit/*.*
  ${CMAKE_SOURCE_DIR}/src/support/gpu_target.*
  ${CMAKE_SOURCE_DIR}/src/engine/compiler/*.* ${CMAKE_SOURCE_DIR}/src/engine/compiler.h
  ${CMAKE_SOURCE_DIR}/src/engine/picture/picture_cells.h ${CMAKE_SOURCE_DIR}/src/support/pass_list.h
  ${CMAKE_SOURCE_DIR}/include/heddle/kernel_abi.h ${CMAKE_SOURCE_DIR}/include/heddle/bind_program.h
  ${CMAKE_SOURCE_DIR}/include/heddle/target.h ${CMAKE_SOURCE_DIR}/include/heddle/tensor.h)
list(SORT generator_sources)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/generator_sources.txt CONTENT "${generator_sources}")
set(digest_header ${CMAKE_BINARY_DIR}/generated/generator_digest.inc)
add_custom_command(OUTPUT ${digest_header}
  COMMAND ${CMAKE_COMMAND} "-DSOURCES=${generator_sources}" -DOUT=${digest_header} -DROOT=${CMAKE_SOURCE_DIR}
          "-DVERSIONS=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} LLVM ${LLVM_PACKAGE_VERSION}" -P ${CMAKE_SOURCE_DIR}/cmake/digest.cmake
  DEPENDS ${generator_sources} ${CMAKE_SOURCE_DIR}/cmake/digest.cmake VERBATIM)
add_custom_target(heddle_generator_digest DEPENDS ${digest_header})

# heddle_use_digest(target): lets sources of the target include "generator_digest.inc".
function(heddle_use_digest target)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  add_dependencies(${target} heddle_generator_digest)
endfunction()
