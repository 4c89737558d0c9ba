// What `help` says: an overview, and a text a topic.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli::repl {

/// Names of the commands, in the order of the overview.
std::vector<std::string> command_names();

/// What `help TOPIC` knows: the commands, and subjects such as "formulas".
std::vector<std::string> topics();

/// The overview for an empty topic. Throws UserError for an unknown one, with the nearest name.
std::string help(std::string_view topic);

}  // namespace heddle::cli::repl
