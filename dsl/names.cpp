#include "dsl/names.h"
#include <algorithm>

namespace heddle::dsl {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"abs", 1, false, ir::Op::Abs},         {"min", 2, false, ir::Op::Min},   {"max", 2, false, ir::Op::Max},
      {"clamp", 3, false, std::nullopt},      {"exp", 1, true, ir::Op::Exp},    {"log", 1, true, ir::Op::Log},
      {"tanh", 1, true, ir::Op::Tanh},        {"sigmoid", 1, true, ir::Op::Sigmoid}, {"sqrt", 1, true, ir::Op::Sqrt},
      {"softcap", 2, true, std::nullopt},     {"real", 1, true, ir::Op::ToReal},
  };
  return all;
}

const Function* find_function(std::string_view name) {
  const auto found = std::find_if(functions().begin(), functions().end(), [&](const Function& f) { return f.name == name; });
  return found == functions().end() ? nullptr : &*found;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : functions()) names.push_back(function.name);
  return names;
}

const std::vector<std::string>& index_names() {
  static const std::vector<std::string> names = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk"};
  return names;
}

bool is_index_name(std::string_view name) { return std::count(index_names().begin(), index_names().end(), name) > 0; }

bool is_score_name(std::string_view name) { return name == "s" || name == "score"; }

std::string reserved_as(std::string_view name) {
  if (is_index_name(name)) return name.size() == 1 && name[0] >= 'a' ? "an index variable" : "a size";
  if (is_score_name(name)) return "the score";
  if (name == "true" || name == "false") return "a literal";
  return find_function(name) ? "a function" : "";
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace heddle::dsl
