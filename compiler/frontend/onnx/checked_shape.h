// Shapes that the dialect infers, checked before an operation is built.
#pragma once

#include <string>

#include "compiler/dialect/sluice/shapes.h"
#include "compiler/frontend/onnx/emitter.h"

namespace sluice::frontend {

/// The result of an inference, or the NodeError of what it refuses.
inline ir::Extents checked(ir::ShapeOr shape, const std::string &why) {
  if (mlir::failed(shape))
    throw NodeError{kShapes, why};
  if (elementCount(Shape(shape->begin(), shape->end()), kMaxElements) < 0)
    throw NodeError{kShapes,
                    "the result has more than " + std::to_string(kMaxElements) + " elements"};
  return *shape;
}

} // namespace sluice::frontend
