// Named sizes of a spec and formulas of them: "S", "S / 2", 4096.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "dsl/json_reader.h"

namespace heddle::dsl {

class Dims {
 public:
  Dims() = default;
  explicit Dims(std::map<std::string, int64_t> values) : values_(std::move(values)) {}
  const std::map<std::string, int64_t>& values() const { return values_; }

  /// An integer, or a string with an integer formula whose names are dims. Fails at `view` (with the nearest known dim) on
  /// anything else, on a zero divisor, and where the value or a part of it leaves int64.
  int64_t evaluate(const JsonView& view) const;
  /// The same, and not negative.
  int64_t size(const JsonView& view) const;

 private:
  int64_t formula(const JsonView& view, const std::string& text) const;

  std::map<std::string, int64_t> values_;
};

/// Reads "dims" and applies overrides, each of which must name a dim that the spec has.
Dims read_dims(const JsonView& spec, const std::map<std::string, int64_t>& overrides);

}  // namespace heddle::dsl
