// Tensors that depend on nothing but the elements of an integer input: the host looks them up in a
// constant table while it packs rows. Token ids reach the accelerator as rows of an embedding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/integer_range.h"
#include "mlir/IR/Value.h"

namespace sluice::frontend {

struct Tensor;

/// A row of a table for each integer that an input accepts.
struct ArrayLookup {
  size_t array = 0;  ///< index of the input in ImportedModel::arrays
  int64_t first = 0; ///< the integer of the first row
  Shape inner;       ///< of a row; empty: one element
  std::vector<float> values;

  [[nodiscard]] int64_t rows() const;
  /// The least and the largest value.
  [[nodiscard]] IntegerRange range() const;
};
using ArrayLookupRef = std::shared_ptr<const ArrayLookup>;

/// Views of the input that a looked-up tensor is behind: each takes a tensor with further axes
/// behind those of the view.
using ArrayView = std::function<Tensor(const Tensor &)>;

/// The inputs of a model during its import.
class Arrays {
public:
  struct Array {
    std::string name;
    DataType type;
    Shape shape;
    std::optional<IntegerRange> range; ///< of the integers that tables have rows for
    mlir::Value value;                 ///< the argument of the function that has its elements
  };

  /// `ranges` are those that the tables of an earlier import wanted, by name.
  explicit Arrays(const std::map<std::string, IntegerRange> &ranges) : ranges(ranges) {}

  /// Adds an input and returns the table of its own integers; null if it has none.
  ArrayLookupRef add(const std::string &name, DataType type, const Shape &shape, mlir::Value value);
  /// The input that a value is, by its number; nothing if it is none.
  [[nodiscard]] std::optional<size_t> find(mlir::Value value) const;
  [[nodiscard]] const std::vector<Array> &all() const { return arrays; }

  /// Rows of a table with `extent` rows are chosen by the values of a lookup. Returns the numbers
  /// of the rows, and remembers which integers the input may accept.
  std::vector<int64_t> choose(const ArrayLookup &by, int64_t extent);

  /// What differs from the ranges of this import; it is to be repeated with these.
  [[nodiscard]] const std::map<std::string, IntegerRange> &wanted() const { return wants; }

private:
  const std::map<std::string, IntegerRange> &ranges;
  std::map<std::string, IntegerRange> wants;
  std::vector<Array> arrays;
};

} // namespace sluice::frontend
