// The settings of a session: at which lengths, heads and sizes facts are counted and kernels are run.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli::repl {

struct Settings {
  int64_t sq = 4096, sk = 0;               ///< Queries; keys, 0 as many as queries.
  int64_t batch = 1, heads = 8, kv_heads = 0;  ///< kv_heads 0: as many as heads.
  int64_t head_dim = 64, value_dim = 0;    ///< value_dim 0: head_dim.
  int64_t b = 0, h = 0;                    ///< The batch and head that facts look at, where a mask depends on them.
  int64_t tile_rows = 64, tile_keys = 64;  ///< Tiles that facts count.
  int64_t repeat = 5, threads = 0;         ///< Rounds of run and bench; threads 0: one a core.

  int64_t keys() const { return sk == 0 ? sq : sk; }
  int64_t key_heads() const { return kv_heads == 0 ? heads : kv_heads; }
  int64_t value_width() const { return value_dim == 0 ? head_dim : value_dim; }
  int cores() const;  ///< Threads to use.
};

/// "sq", "sk", ... in the order they are listed.
std::vector<std::string> setting_names();

/// Throws UserError for an unknown name (with the nearest one), a malformed value or one out of range.
void change(Settings& settings, std::string_view name, std::string_view value);

/// One line a setting: name, value, what it is.
std::string list(const Settings& settings);

}  // namespace heddle::cli::repl
