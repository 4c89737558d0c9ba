// The version of these headers, for C and C++; heddle_version() in heddle/c.h tells that of the library a program runs with.
#pragma once

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
