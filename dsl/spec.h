// The JSON front door of models: reads a spec into a checked ir::Graph.
//
// A spec is one object: heddle (1), name, dims, masks, inputs, weights, nodes, outputs.
//   dims     {"S": 4096}; shapes, mask params and integer attributes may be integers, dim names or formulas of them ("S / 2").
// Formulas of masks and scores read inputs and weights as tables, by name: `doc[q] == doc[k]`.
//   masks    {"local": {"formula": "abs(q - k) <= w", "params": {"w": 256}}}
//   inputs   {name, shape, dtype, role?} and at most one of
//              fill    {"scale": 1, "offset": 0} | {"mod": 256} | {"iota": 0}: seeded by the position of the input
//              values  [numbers in row-major order]
//              documents "tokens": for each element of an earlier input that holds files, the number of its file (0, 1, ...)
//              text    ["LICENSE", ...]: an integer input holds the bytes of these files, one element a byte
//   weights  {name, shape, dtype?, init, seed?}; init: {"normal": sigma} | {"uniform": a} | {"constant": c} | "zeros" | "ones";
//              the seed defaults to a hash of the name
//   nodes    {op, inputs, name?, outputs?, attrs?} in any order; outputs default to the name, of several NAME:0, NAME:1, ...
//   outputs  names of values
#pragma once
#include <filesystem>
#include <string>

#include "heddle/graph.h"
#include "src/ir/graph.h"

namespace heddle::dsl {

inline constexpr size_t kMaxNodes = size_t{1} << 16;
inline constexpr size_t kMaxRank = 8;

/// Reads and checks a spec. `origin` names it in errors; `folder` is where it lies (empty: nowhere, so it may read no files
/// but those below options.allow_paths). Throws UserError.
ir::Graph read_spec(const std::string& json, const std::string& origin, const std::filesystem::path& folder,
                    const SpecOptions& options);

}  // namespace heddle::dsl
