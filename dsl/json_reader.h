// JSON with places: every element knows its pointer and its span in the text, so that each error can show both.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heddle/error.h"

namespace heddle::dsl {

/// Bounds of what is accepted before anything is built from it.
struct JsonLimits {
  size_t bytes = size_t{16} << 20;
  int depth = 64;
};

/// A parsed text. Duplicate keys are errors.
struct JsonDocument {
  std::string text, origin;
  nlohmann::json root;

  /// Throws UserError with line, column and caret for malformed text, duplicate keys, and text beyond the limits.
  static std::shared_ptr<const JsonDocument> parse(std::string text, std::string origin, const JsonLimits& limits = {});
};

/// Where the element at `path` stands in a valid JSON text; with `key`, where the key that names it stands.
SourceSpan locate(const std::string& text, const std::string& origin, const std::vector<std::string>& path, bool key = false);

/// The end of a message about an unknown name: `did you mean 'formula'?` when something is near, else `known: a, b, c`.
std::string suggestion(const std::string& name, const std::vector<std::string>& known);

/// One element of a document. Cheap to copy; keeps the document alive.
class JsonView {
 public:
  explicit JsonView(std::shared_ptr<const JsonDocument> document);

  std::string pointer() const;  ///< RFC 6901: "/nodes/0/op"; "/" stands for the whole document.
  std::string origin() const;   ///< "spec.json /nodes/0/op"
  /// Throws UserError "POINTER: message" that points at this element.
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;

  bool has(const std::string& key) const { return value_->contains(key); }
  JsonView at(const std::string& key) const;                      ///< Of an object; fails when it is absent.
  JsonView at(size_t index) const;                                ///< Of an array.
  std::vector<JsonView> elements() const;                         ///< Of an array; fails on anything else.
  std::vector<std::pair<std::string, JsonView>> members() const;  ///< Of an object; fails on anything else.
  /// Fails unless this is an object with no other keys than these; names the nearest known key.
  void expect_keys(const std::vector<std::string>& known) const;

  bool is_string() const { return value_->is_string(); }
  bool is_array() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }
  bool is_integer() const { return value_->is_number_integer(); }
  bool is_bool() const { return value_->is_boolean(); }
  std::string string() const;
  int64_t integer() const;  ///< Fails on reals and beyond int64.
  double real() const;      ///< Any number.

 private:
  JsonView(std::shared_ptr<const JsonDocument> document, const nlohmann::json* value, std::vector<std::string> path);
  [[noreturn]] void wrong_kind(const std::string& expected) const;
  JsonView child(const std::string& token, const nlohmann::json& value) const;

  std::shared_ptr<const JsonDocument> document_;
  const nlohmann::json* value_;
  std::vector<std::string> path_;
};

}  // namespace heddle::dsl
