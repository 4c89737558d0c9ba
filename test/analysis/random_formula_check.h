// One random formula, everything that facts say of it, against brute force.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::analysis::test {

/// What is wrong with the facts or counts of the formula that the seed gives, at sizes that it gives too; empty: nothing.
std::string check_random_formula(uint64_t seed);

}  // namespace heddle::analysis::test
