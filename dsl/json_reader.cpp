#include "dsl/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "src/support/text.h"

namespace heddle::dsl {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestQuote = 60;

std::string dumped(const Json& value) {
  return support::shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace), kLongestQuote);
}

/// Watches the parser: depth and duplicate keys.
class ParseGuard {
 public:
  ParseGuard(int depth, const std::string& origin) : depth_(depth), origin_(origin) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > depth_)
      throw UserError(fmt::format("{}: nested deeper than {} levels", origin_, depth_), "flatten the document");
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) add_key(parsed.get<std::string>());
    return true;
  }

 private:
  void add_key(const std::string& key) {
    if (keys_.back().insert(key).second) return;
    throw UserError(fmt::format("{}: key {} stands twice in one object", origin_, support::quote(key)), "remove one of them");
  }

  int depth_;
  const std::string& origin_;
  std::vector<std::set<std::string>> keys_;
};

/// The reason in the library's message, without its prefix of codes and positions.
std::string plain_reason(const std::string& what) {
  const size_t column = what.find("column ");
  const size_t colon = column == std::string::npos ? std::string::npos : what.find(": ", column);
  std::string reason = colon == std::string::npos ? what.substr(what.find("] ") + 2) : what.substr(colon + 2);
  const size_t last_read = reason.find("; last read");
  if (last_read == std::string::npos) return reason;
  const size_t rest = reason.find("'; expected", last_read);
  return reason.substr(0, last_read) + (rest == std::string::npos ? "" : reason.substr(rest + 1));
}

[[noreturn]] void malformed(const std::string& text, const std::string& origin, const Json::parse_error& error) {
  const size_t offset = std::min(error.byte ? error.byte - 1 : 0, text.size());
  const size_t length = offset < text.size() ? 1 : 0;
  throw UserError("malformed JSON: " + plain_reason(error.what()), SourceSpan{text, origin, offset, length});
}

/// Walks a text known to be valid JSON.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  size_t position() const { return at_; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::string read_string() {
    const size_t begin = at_;
    skip_string();
    return Json::parse(text_.substr(begin, at_ - begin)).get<std::string>();
  }

  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth, ++at_;
      } else if (c == '}' || c == ']') {
        --depth, ++at_;
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
      }
    } while (depth > 0);
  }

  /// Moves to the child that `token` names; true when found. `key_span` gets the key's place in an object.
  bool enter(const std::string& token, std::pair<size_t, size_t>& key_span) {
    const bool object = text_[at_++] == '{';
    for (size_t index = 0;; ++index) {
      skip_space();
      if (text_[at_] == '}' || text_[at_] == ']') return false;
      const size_t begin = at_;
      const std::string name = object ? read_string() : std::to_string(index);
      key_span = {begin, at_ - begin};
      skip_space();
      if (name == token) return true;
      skip_value();
    }
  }

 private:
  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    ++at_;
  }

  const std::string& text_;
  size_t at_ = 0;
};

std::string escaped(const std::string& token) {
  std::string text;
  for (char c : token) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = support::nearest(name, known);
  if (!near.empty()) return fmt::format("did you mean {}?", support::quote(near));
  return known.empty() ? std::string() : "known: " + support::list(known);
}

std::shared_ptr<const JsonDocument> JsonDocument::parse(std::string text, std::string origin, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw UserError(fmt::format("{}: {} bytes of JSON, at most {} are read", origin, text.size(), limits.bytes));
  }
  auto document = std::make_shared<JsonDocument>(JsonDocument{std::move(text), std::move(origin), {}});
  try {
    document->root = Json::parse(document->text, ParseGuard(limits.depth, document->origin));
  } catch (const Json::parse_error& error) {
    malformed(document->text, document->origin, error);
  } catch (const Json::exception& error) {
    throw UserError(fmt::format("{}: {}", document->origin, plain_reason(error.what())), "write the number within its range");
  }
  return document;
}

SourceSpan locate(const std::string& text, const std::string& origin, const std::vector<std::string>& path, bool key) {
  Scanner scanner(text);
  std::pair<size_t, size_t> key_span{0, 0};
  scanner.skip_space();
  for (const std::string& token : path) {
    if (!scanner.enter(token, key_span)) return {text, origin, 0, 0};
  }
  if (key) return {text, origin, key_span.first, key_span.second};
  const size_t begin = scanner.position();
  scanner.skip_value();
  return {text, origin, begin, scanner.position() - begin};
}

JsonView::JsonView(std::shared_ptr<const JsonDocument> document) : document_(std::move(document)), value_(&document_->root) {}

JsonView::JsonView(std::shared_ptr<const JsonDocument> document, const Json* value, std::vector<std::string> path)
    : document_(std::move(document)), value_(value), path_(std::move(path)) {}

std::string JsonView::pointer() const {
  std::string text;
  for (const std::string& token : path_) text += "/" + escaped(token);
  return text.empty() ? "/" : text;
}

std::string JsonView::origin() const { return document_->origin + " " + pointer(); }

void JsonView::fail(const std::string& message, const std::string& hint) const {
  throw UserError(pointer() + ": " + message, locate(document_->text, document_->origin, path_), hint);
}

void JsonView::wrong_kind(const std::string& expected) const {
  fail(fmt::format("expected {}, found {}", expected, dumped(*value_)));
}

JsonView JsonView::child(const std::string& token, const Json& value) const {
  std::vector<std::string> path = path_;
  path.push_back(token);
  return JsonView(document_, &value, std::move(path));
}

JsonView JsonView::at(const std::string& key) const {
  if (!value_->is_object()) wrong_kind("an object");
  if (!has(key)) fail(fmt::format("the key \"{}\" is missing", key));
  return child(key, (*value_)[key]);
}

JsonView JsonView::at(size_t index) const { return child(std::to_string(index), value_->at(index)); }

std::vector<JsonView> JsonView::elements() const {
  if (!is_array()) wrong_kind("an array");
  std::vector<JsonView> views;
  for (size_t i = 0; i < value_->size(); ++i) views.push_back(at(i));
  return views;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!is_object()) wrong_kind("an object");
  std::vector<std::pair<std::string, JsonView>> views;
  for (const auto& [key, value] : value_->items()) views.emplace_back(key, child(key, value));
  return views;
}

void JsonView::expect_keys(const std::vector<std::string>& known) const {
  for (const auto& [key, view] : members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw UserError(fmt::format("{}: unknown key {}", pointer(), support::quote(key)),
                    locate(document_->text, document_->origin, view.path_, true), suggestion(key, known));
  }
}

std::string JsonView::string() const {
  if (!is_string()) wrong_kind("a string");
  return value_->get<std::string>();
}

int64_t JsonView::integer() const {
  if (!is_integer()) wrong_kind("an integer");
  if (value_->is_number_unsigned() && value_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    fail(fmt::format("the integer {} passes 2^63 - 1", dumped(*value_)));
  }
  return value_->get<int64_t>();
}

double JsonView::real() const {
  if (!value_->is_number()) wrong_kind("a number");
  return value_->get<double>();
}

}  // namespace heddle::dsl
