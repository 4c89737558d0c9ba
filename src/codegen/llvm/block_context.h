// What an emitted function knows of its block: argument fields, coordinates, base pointers, and scratch buffers by id.
#pragma once
#include <map>
#include <vector>
#include "src/codegen/llvm/matrix.h"
#include "src/codegen/llvm/scalar_expr.h"
#include "src/codegen/llvm/vector_expr.h"
#include "src/ir/scheduled_program.h"

namespace heddle::codegen {

/// Reads fields of heddle::AttentionArgs.
class ArgumentReader {
 public:
  ArgumentReader(IrBuilder& builder, Value* args) : b_(builder), args_(args) {}
  Value* integer(size_t offset);
  Value* real(size_t offset);     ///< A double field as f32.
  Value* pointer(size_t offset);
  Value* base(ir::TensorId tensor);
  Value* stride(ir::TensorId tensor, int axis);  ///< Axis 0 batch, 1 head, 2 row; in elements.

 private:
  Value* address(size_t offset);
  IrBuilder& b_;
  Value* args_;
};

/// What expressions know of a launch in one function: sizes, parameters and tables.
struct LaunchNames {
  ScalarExpr uniform;  ///< Knows B, H, Hkv, Sq, Sk and the Int parameters.
  Names reals;         ///< Real parameters as f32.
};
LaunchNames launch_names(IrBuilder& b, ArgumentReader& args, const std::vector<std::string>& int_params,
                         const std::vector<std::string>& real_params, const std::vector<TableDeclaration>& tables);

/// Uniform values of one block, valid in one function.
struct BlockContext {
  Value *args, *scratch;
  ScalarExpr uniform;   ///< Knows b, h, B, H, Hkv, Sq, Sk and the Int parameters.
  Names reals;          ///< Real parameters as f32.
  RowCoordinates rows;
  std::map<ir::TensorId, Value*> base;        ///< Row 0 of K and V for the block's head.
  std::map<ir::TensorId, Value*> row_stride;

  Value* name(const std::string& variable) { return uniform(ir::var(variable)); }
};

/// Decodes block `block` of the grid; `uniform` of the result also knows qb, NK and NF.
BlockContext enter_block(IrBuilder& b, const ir::ScheduledProgram& program, Value* args, Value* scratch, Value* block);
/// Keeps what reload_block needs in the frame buffer.
void save_block(IrBuilder& b, const ir::ScheduledProgram& program, BlockContext& block);
/// The same block in another function, from the frame.
BlockContext reload_block(IrBuilder& b, const ir::ScheduledProgram& program, Value* args, Value* scratch);

/// Address of a buffer in scratch.
Value* buffer_address(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, ir::BufferId id);
Matrix matrix(IrBuilder& b, const ir::ScheduledProgram& program, const BlockContext& block, ir::BufferId id);

}  // namespace heddle::codegen
