// Tables of a session: elements from a file, from a list, or filled by a formula of their indices.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "heddle/formula.h"
#include "heddle/graph.h"
#include "src/cli/repl/settings.h"

namespace heddle::cli::repl {

/// Elements a formula fills at most.
inline constexpr int64_t kMaxFilledElements = int64_t{1} << 24;

/// Immutable; copies share the elements.
class Table {
 public:
  /// "doc" and `[0, 0, 1]` or a file's name; "doc[k]" and a formula over b, h, q, k named on the left, sizes and `numbers`. Files are
  /// read here. Throws UserError for what is none of these.
  static Table parse(std::string_view left, std::string_view right, const Parameters& numbers);

  const std::string& name() const { return name_; }
  /// The element type. A formula is read again at each use, as those of masks are: it gives Int32 when it is an integer one, else Float32.
  TableOf declared(const Parameters& numbers) const;
  /// The elements. Those of a formula are [the sizes of its indices as set]. Throws UserError when it gives too many, or integers beyond
  /// 32 bits.
  Array array(const Parameters& numbers, const Settings& settings) const;
  /// "table doc[k] = k / 512".
  std::string statement() const;

 private:
  std::string name_, text_;
  std::vector<std::string> indices_;  ///< Of a formula; else none.
  Array elements_;                    ///< Of a list or file.
};

/// "int32 [8], 0 to 3: 0, 0, 1, 1, 2, 2, 3, 3"
std::string summary(const Array& table);

}  // namespace heddle::cli::repl
