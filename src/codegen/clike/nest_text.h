// Loop nests of tiles as text: all pieces of a nest end in one call, so that a kernel holds each step once a class.
#pragma once
#include <functional>
#include <string>
#include "src/codegen/clike/expr_text.h"
#include "src/codegen/clike/text_writer.h"
#include "src/ir/loop_nest.h"

namespace heddle::codegen::clike {

/// Writes loops that run `call`, a statement with `{}` for a tile's number, on every tile of the nest. `uniform` knows every free name of it.
/// `last`: a tile number with which the call is made once more at the end; empty: it is not.
void write_nest(TextWriter& out, const ir::LoopNest& nest, const ExprText& uniform, const std::string& call, const std::string& last = {});

}  // namespace heddle::codegen::clike
