#include "src/cli/draw_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "heddle/error.h"
#include "src/cli/mask_options.h"
#include "src/cli/terminal.h"
#include "src/cli/values.h"
#include "src/cli/write_file.h"
#include "src/engine/compiler.h"
#include "src/engine/picture/legend.h"
#include "src/engine/picture/png.h"
#include "src/engine/picture/svg.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kFileCells = 256;  ///< Along the longer side of a picture in a file.

struct Settings {
  MaskOptions mask;
  std::string tile = "64x64", output;
  std::optional<int> width;
  bool json = false;
};

void declare(CLI::App& command, Settings& settings) {
  declare_mask(command, settings.mask);
  command.add_option("--tile", settings.tile, "ROWSxKEYS of the tiles to show")->capture_default_str();
  CLI::Option* const output = command.add_option("-o,--output", settings.output, "file to write, .svg or .png; without it the terminal");
  command.add_option("--width", settings.width, "columns of the picture in the terminal; default the terminal's, or 80")
      ->check(CLI::Range(engine::kLeastTextWidth, 4096))
      ->excludes(output);
  command.add_flag("--json", settings.json, "print the cells and counts as one JSON object");
}

using Encode = std::string (*)(const engine::Scene&);

/// How the name of the output says it is to be written.
Encode encoder_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  for (char& c : extension) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (extension == ".svg") return engine::svg;
  if (extension == ".png") return engine::png;
  throw UserError(fmt::format("-o {}: no kind of picture that can be written", support::quote(path)),
                  "expected a name that ends in .svg or .png; without -o the picture goes to the terminal");
}

std::string json_text(const engine::PictureCells& cells) {
  Json rows = Json::array();
  for (int64_t row = 0; row < cells.rows; ++row) {
    const auto first = cells.allowed.begin() + row * cells.cols;
    rows.push_back(std::vector<int64_t>(first, first + cells.cols));
  }
  const Json tiles = {{"full", cells.tiles.full}, {"partial", cells.tiles.partial}, {"empty", cells.tiles.empty}};
  const Json json = {{"mask", cells.mask}, {"sq", cells.sq}, {"sk", cells.sk}, {"nnz", cells.nnz}, {"proof", cells.proof}, {"sampled", cells.sampled},
                     {"tiles", {{fmt::format("{}x{}", cells.tile_rows, cells.tile_cols), tiles}}},
                     {"cell", {{"rows", cells.cell_rows}, {"cols", cells.cell_cols}}},
                     {"allowed", rows}, {"milliseconds", cells.milliseconds}};
  return json.dump() + '\n';
}

int run(const Settings& settings) {
  const Encode encode = settings.output.empty() ? nullptr : encoder_of(settings.output);
  engine::TextStyle style = terminal_style();
  if (settings.width) style.width = *settings.width;
  engine::PictureRequest request{.facts = facts_request(settings.mask)};
  std::tie(request.tile_rows, request.tile_cols) = parse_tile(settings.tile);
  const int64_t sq = request.facts.sq, sk = request.facts.sk;
  const engine::CellLimits limits = encode ? engine::cell_limits(sq, sk, kFileCells) : engine::text_limits(sq, sk, style.width);
  request.max_rows = limits.rows;
  request.max_cols = limits.cols;
  const engine::PictureCells cells = engine::compiler().picture(request);
  if (encode) write_file(settings.output, encode(engine::scene_of(cells)));
  write(settings.json ? json_text(cells)
        : encode      ? fmt::format("{}: {}; {}\n", settings.output, engine::cell_text(cells), engine::pairs_text(cells))
                      : engine::text_picture(cells, style));
  return kDone;
}

}  // namespace

void add_draw_command(CLI::App& app, Action& action) {
  add_command<Settings>(app, action,
                        {"draw", "a picture of a mask and its tiles: in the terminal, or as .svg or .png",
                         "heddle draw --mask 'k <= q && q - k < w' --param w=8 --sq 32 --tile 8x8"},
                        declare, run);
}

}  // namespace heddle::cli
