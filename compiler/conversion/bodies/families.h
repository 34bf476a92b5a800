// The families of a program of bodies, as values and folds need them.
#pragma once

#include <map>

#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/bodies/lines.h"
#include "compiler/conversion/bodies/partition.h"
#include "compiler/conversion/rows/graph_builder.h"

namespace sluice::bodies {

class Families {
public:
  Families(const Partition &partition, rows::Program &program)
      : partition(partition), program(program) {}

  /// The rows of some lines of a value, or of all of it.
  [[nodiscard]] LineRows rowsOf(mlir::Value value, std::optional<Slab> lines) const;

  /// The family of an input of the function.
  void addInput(mlir::Value value, const std::string &name, uint32_t input);
  /// The family of a value that an earlier body makes, or the host.
  uint32_t of(mlir::Value value);
  /// The family of the parts of all positions that cores have folded.
  uint32_t partsOf(mlir::Operation *op);
  /// A sum leaves what rounding leaves of it as well.
  [[nodiscard]] uint32_t partsPerCore(mlir::Operation *op) const;
  uint32_t add(rows::Family family);

  /// What the rows of a family hold; `given` is of the host's.
  [[nodiscard]] rows::TensorLanes lanesOf(uint32_t family, const rows::TensorLanes &given) const;
  /// Takes in what the rows hold that a body writes to a family.
  void addLanes(const rows::Write &write, const rows::TensorLanes &written);

private:
  const Partition &partition;
  rows::Program &program;
  llvm::DenseMap<mlir::Value, uint32_t> known;
  llvm::DenseMap<mlir::Operation *, uint32_t> parts; ///< of what an operation is folded of
  std::map<uint32_t, rows::TensorLanes> lanes;       ///< of families that bodies make

  void setExtent(rows::Family &family, mlir::Value value) const;
};

/// What a trip makes of a value.
std::optional<Slab> linesOf(mlir::Value value, std::optional<Cut> cut);

} // namespace sluice::bodies
