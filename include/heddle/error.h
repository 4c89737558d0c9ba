// The exceptions that cross Heddle's API, sorted by whose fault an error is, with source spans that print a caret.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

namespace heddle {

/// A place in a text the user gave: a formula or a JSON document. Offsets and lengths are in bytes.
struct SourceSpan {
  std::string text;    ///< The whole text, or empty where there is none (a C++ builder).
  std::string origin;  ///< What the text is: "mask", "score", "spec.json /masks/local/formula", ...
  size_t offset = 0;
  size_t length = 0;

  size_t line() const;    ///< From 1.
  size_t column() const;  ///< From 1, in bytes.
  /// "origin:line:column", the line of text (shortened around the span when long) and a caret line below it.
  std::string caret() const;
};

/// Base of everything Heddle throws on purpose. what() is the whole message, caret and hint included.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's input is wrong: a formula, spec, shape, argument or file. Nothing was changed or launched.
class UserError : public Error {
 public:
  /// `message` says what was found and expected, `hint` what to do (may be empty).
  explicit UserError(std::string message, std::string hint = {});
  UserError(std::string message, SourceSpan span, std::string hint = {});
  const std::string& message() const { return message_; }
  const SourceSpan& span() const { return span_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string message_;
  SourceSpan span_;
  std::string hint_;
};

/// A compiler or vendor library is missing or refused: carries its log and what to install.
class ToolchainError : public Error {
 public:
  explicit ToolchainError(const std::string& message, const std::string& log = {});
};

/// Device, memory or operating system failed while running.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

/// A defect of Heddle itself. The message names the stage and how to report it.
class InternalError : public Error {
 public:
  InternalError(const std::string& stage, const std::string& message);
};

}  // namespace heddle
