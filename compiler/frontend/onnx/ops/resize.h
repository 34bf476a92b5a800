// What a node of Resize or Upsample says of every axis, and what it requires.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops::resizing {

/// How one axis is resized.
struct Axis {
  int64_t from = 1, to = 1;
  double scale = 1;
  double start = 0, end = 1; ///< the part of the input that tf_crop_and_resize takes
};

/// Which inputs of a version are what; -1: it has none.
struct Inputs {
  int roi = -1, scales = -1, sizes = -1;
};

/// A string attribute, `otherwise` of a version that does not have it.
std::string text(const NodeView &node, const char *name, const char *otherwise);
std::string modeOf(const NodeView &node);
std::string coordinates(const NodeView &node);

/// Every axis of a node that meets the requirements.
std::vector<Axis> axesOf(const NodeView &node, const Inputs &inputs);

/// "attribute 'mode' is nearest or linear" (E0206).
Requirement oneOf(const char *name, const char *otherwise, std::vector<std::string> allowed);

/// Integers and bools are selected only.
Requirement selectsIntegers();
/// The same of versions with coordinates, which may lie outside the input.
Requirement selectsIntegersInside();

/// Of versions that have the attribute.
Requirement axesFit();

/// Every scale, under these names, is a number that an extent can be multiplied by.
Requirement scalesArePositive(const char *names, const Inputs &inputs);

/// Of versions with one scale for each axis, and nothing else.
std::vector<Requirement> scaleRequirements(const Inputs &inputs);

/// Of versions with scales or sizes, and coordinates.
std::vector<Requirement> sizeRequirements(const Inputs &inputs);

/// Of what axesOf gives.
Requirement resultFits(const Inputs &inputs);

} // namespace sluice::frontend::ops::resizing
