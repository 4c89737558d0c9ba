// The words of the C border: messages come from C++ code, which names its own fields.
#pragma once
#include <string>

namespace heddle::engine {

/// The message with every field and call of the C++ API replaced by what heddle/c.h has for it.
std::string in_c_terms(std::string message);

}  // namespace heddle::engine
