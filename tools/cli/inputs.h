// Where the inputs of a run come from, and what its outputs are compared with.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/problem.h"
#include "runtime/format/host_tensor.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// An input or output of the model as the runtime describes it.
struct Port {
  std::string name;
  io::Type type = io::Type::Float32;
  std::vector<int64_t> shape;
  std::optional<format::Limits> limits = std::nullopt; ///< of an input of integers or bools
};

/// One set of inputs, in the model's order, and the outputs to compare with;
/// references without data are not compared.
struct DataSet {
  std::string name;
  std::vector<io::Tensor> inputs;
  std::map<size_t, io::Tensor> references; ///< by output
};

/// The inferences of a run: steps of streams that are independent of each other, the first steps of
/// all streams first.
struct Rounds {
  uint64_t steps = 1, streams = 1;
  bool stacks = false; ///< --steps is given: files may have the steps along a new axis, also one

  uint64_t all() const { return steps * streams; }
};

/// "x=@file" split in two; the problem E0601 if it has another form.
std::optional<Problem> splitSpec(const std::string &spec, std::string &name, std::string &value);

/// The one tensor of a file, or the member of that name; E05xx, E0602, E0604 or E0605.
std::variant<io::Tensor, Problem> readOne(const std::string &path, const std::string &name);

/// Returns the tensor of `x=random:SEED` for input `index`: numbers of [-1, 1), or integers between
/// the limits of the input. `round` varies it from step to step.
io::Tensor randomTensor(const Port &port, uint64_t seed, size_t index, uint64_t round);

/// Inputs by --input: `x=@file`, `x=zeros`, `x=random:SEED`, `@file.npz` (all
/// members). Appends to `problems` what is unknown, missing, given twice, or of
/// another shape. `round` varies random inputs from step to step. Of several steps a file may
/// have all: along a new first axis, or along one of the input's own, which is then as many times
/// as long. Of several streams it has them along an axis before all others, each as if alone. All
/// inferences come back along a new first axis, in the order of the run.
std::vector<io::Tensor> gatherInputs(const std::vector<std::string> &specs,
                                     const std::vector<Port> &ports, uint64_t round,
                                     const Rounds &rounds, Problems &problems);

/// References by --expect: `y=@file`; all of them, like inputs, or of a single stream the last.
std::map<size_t, io::Tensor> gatherReferences(const std::vector<std::string> &specs,
                                              const std::vector<Port> &ports, const Rounds &rounds,
                                              Problems &problems);

/// Whether a tensor has all inferences of a port's along a new first axis.
bool hasRounds(const io::Tensor &tensor, const Port &port, const Rounds &rounds);

/// One of them.
io::Tensor stepOf(const io::Tensor &tensor, uint64_t step);

/// Tensors of one shape along a new first axis.
io::Tensor stacked(const std::vector<const io::Tensor *> &tensors);

/// A folder in the layout of the ONNX test data: input_0.pb, output_0.pb, ... in
/// it, or in folders test_data_set_N in it. Without `outputs`, no reference is read.
std::vector<DataSet> gatherDataSets(const std::string &folder, const std::vector<Port> &inputs,
                                    const std::vector<Port> *outputs, Problems &problems);

/// What the rounding of inputs to bf16 makes infinite: "3 values beyond the range of bf16
/// (3.38953e+38), which become infinite; the first is 1e+39 at [0, 2]", or "".
std::string overflowText(const io::Tensor &tensor);

/// The index of a port; appends E0602 to `problems` if there is none.
std::optional<size_t> findPort(const std::string &name, const std::vector<Port> &ports,
                               std::string_view kind, Problems &problems);

} // namespace sluice::cli
