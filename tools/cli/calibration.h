// The user's inputs that check a program before random ones do.
#pragma once

#include <string>
#include <vector>

#include "compiler/reference/tensor.h"
#include "compiler/support/problem.h"

namespace sluice::frontend {
struct ImportedTensor;
} // namespace sluice::frontend

namespace sluice::cli {

/// How many samples are read at most, and whether their elements are rounded to bf16.
struct Sampling {
  size_t most = 64;
  bool isRounded = true;
};

/// Reads samples, each a tensor for every input of the model. `path` is a folder in the layout of
/// the ONNX test data, or an .npz file with one member per input, which may have the samples along
/// a new first axis. Sample n has the random numbers of inference n with seed 0. Appends E05xx and
/// E06xx to `problems`.
std::vector<reference::Tensors> readCalibration(const std::string &path,
                                                const std::vector<frontend::ImportedTensor> &inputs,
                                                Problems &problems, const Sampling &sampling = {});

} // namespace sluice::cli
