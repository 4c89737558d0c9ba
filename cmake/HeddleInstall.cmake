# What `cmake --install` and `cpack -G DEB` make of the build: a tree that may be moved, with a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${CMAKE_SOURCE_DIR}/include/heddle/version.h line REGEX "define HEDDLE_VERSION_${part} ")
  if(NOT line STREQUAL "#define HEDDLE_VERSION_${part} ${PROJECT_VERSION_${part}}")
    message(FATAL_ERROR "include/heddle/version.h has `${line}`, but the project is ${PROJECT_VERSION}")
  endif()
endforeach()

# For programs that only run kernels which were compiled before: heddle/kernel_file.h and below; no parser, no engine.
heddle_shared(heddle_runtime_shared runtime support)
set_target_properties(heddle_runtime_shared PROPERTIES OUTPUT_NAME heddle_runtime EXPORT_NAME runtime)

file(RELATIVE_PATH from_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(heddle_command PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin_to_lib}")
set_target_properties(heddle heddle_runtime_shared heddle_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")

install(TARGETS heddle heddle_runtime_shared EXPORT heddleTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS heddle_compiler heddle_command)
install(DIRECTORY include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION ${package_dir})
configure_package_config_file(cmake/heddleConfig.cmake.in generated/heddleConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/heddleConfig.cmake ${CMAKE_BINARY_DIR}/generated/heddleConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH from_pkgconfig_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/heddle.pc.in generated/heddle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Whoever builds a package maintains it: Debian's own variables name them. Else the project, at an address that no mail reaches.
set(maintainer "Heddle developers <developers@heddle.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(HEDDLE_MAINTAINER "${maintainer}" CACHE STRING "Maintainer of the Debian package: Name <address>")
if(NOT HEDDLE_MAINTAINER MATCHES "^[^<>\n]+ <[^<>@ \n]+@[^<>@ \n]+>$")
  message(FATAL_ERROR "HEDDLE_MAINTAINER is `${HEDDLE_MAINTAINER}`; expected: Name <address>")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_CONTACT "${HEDDLE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Opened at run time, and the header that heddle/c.h includes.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0, libdlpack-dev")
include(CPack)
