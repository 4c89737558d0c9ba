#include "src/cli/mask_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"
#include "heddle/matrix.h"
#include "runtime/thread_pool.h"
#include "src/cli/matrix_option.h"
#include "src/cli/table_options.h"
#include "src/cli/values.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

int64_t checked_length(const char* option, int64_t length) {
  if (length >= 0 && length <= ir::kMaxPositions) return length;
  throw UserError(fmt::format("{} {}: expected 0 to {}", option, length, ir::kMaxPositions));
}

/// What `--at` gives, where the mask can depend on it.
std::vector<std::pair<std::string, int64_t>> values_at(const MaskOptions& options, const ir::Expr& mask) {
  std::vector<std::string> known = {"b", "h", "B", "H", "Hkv"};
  for (const auto& [name, type] : ir::parameters(mask)) known.push_back(name);
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& [name, value] : parse_integers("--at", options.at)) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError(fmt::format("--at {}: no value of the mask that can be given", support::quote(name)),
                      "expected one of " + support::list(known) + "; --sq and --sk give the lengths");
    }
    values.emplace_back(name, value);
  }
  return values;
}

engine::FactsRequest matrix_request(const MaskOptions& options) {
  const LoadedMatrix matrix = load_matrix(options.matrix);
  const MatrixMask found = recognize(matrix.view, {.threads = options.threads});
  engine::FactsRequest request;
  request.mask = found.mask().node();
  request.tables = found.tables();
  request.table_memory = matrix.bytes;
  request.sq = found.sq(), request.sk = found.sk();
  request.threads = runtime::thread_count(options.threads);
  return request;
}

}  // namespace

void declare_mask(CLI::App& command, MaskOptions& options) {
  command.add_option("--mask", options.mask, "boolean formula over q, k, h, b and sizes: true means the pair takes part");
  command.add_option("--mask-file", options.mask_file, "file with the mask formula, - for standard input");
  command.add_option("--sq", options.sq, "number of queries");
  command.add_option("--sk", options.sk, "number of keys; default the number of queries");
  command.add_option("--param", options.params, "NAME=VALUE: an integer constant of the formula; repeatable")
      ->allow_extra_args(false);
  command.add_option("--table", options.tables, "NAME=FILE: a table that the mask reads, .npy or white-spaced integers; repeatable")
      ->allow_extra_args(false);
  command.add_option("--at", options.at, "NAME=INTEGER: value of h, b, a size or a dynamic parameter to count at; repeatable")
      ->allow_extra_args(false);
  CLI::Option* matrix = command.add_option("--matrix", options.matrix, kMatrixHelp);
  for (const char* other : {"--mask", "--mask-file", "--sq", "--sk", "--param", "--table", "--at"}) matrix->excludes(command.get_option(other));
  options.command = command.get_name();
  command.add_option("--threads", options.threads, "threads to count with; default all cores")->check(CLI::Range(0, 1024));
}

engine::FactsRequest facts_request(const MaskOptions& options) {
  if (!options.matrix.empty()) return matrix_request(options);
  if (!options.sq) throw UserError(fmt::format("{}: --sq is required", options.command), fmt::format("see `heddle {} --help`", options.command));
  engine::FactsRequest request;
  LoadedTables tables = load_tables(options.tables);
  const Parameters params = with_tables(parse_parameters(options.params), tables.declared);
  request.mask = ir::guard_divisors(parse_mask(options.mask, options.mask_file, params).node());
  request.tables = std::move(tables.views);
  request.table_memory = std::move(tables.memory);
  request.sq = checked_length("--sq", *options.sq);
  request.sk = checked_length("--sk", options.sk.value_or(*options.sq));
  request.ints = values_at(options, request.mask);
  request.threads = runtime::thread_count(options.threads);
  return request;
}

}  // namespace heddle::cli
