#include "tools/cli/calibration.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "compiler/check/inputs.h"
#include "compiler/frontend/onnx/import.h"
#include "hw/numerics/numerics.h"
#include "tools/cli/command_output.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"

namespace sluice::cli {
namespace {

reference::Tensor tensorOf(const io::Tensor &tensor, const Sampling &sampling) {
  std::vector<double> values = io::values(tensor);
  if (sampling.isRounded)
    for (double &value : values)
      value = numerics::bf16ToDouble(numerics::roundToBf16(value));
  return {tensor.shape, std::move(values)};
}

/// Samples along a new first axis of the members; one if they have no such axis.
uint64_t samplesOf(const std::vector<io::Tensor> &members, const std::vector<Port> &ports,
                   bool &stacked) {
  stacked = false;
  for (const io::Tensor &member : members)
    for (const Port &port : ports)
      if (member.name == port.name && member.shape.size() == port.shape.size() + 1) {
        stacked = true;
        return std::max<int64_t>(member.shape.front(), 1);
      }
  return 1;
}

std::vector<reference::Tensors> readArchive(const std::string &path, const std::vector<Port> &ports,
                                            const Sampling &sampling, Problems &problems) {
  const auto read = io::readTensors(path);
  if (const auto *wrong = std::get_if<io::Error>(&read)) {
    problems.push_back(problem(wrong->code, wrong->message));
    return {};
  }
  Rounds rounds;
  rounds.steps = samplesOf(std::get<std::vector<io::Tensor>>(read), ports, rounds.stacks);
  const std::vector<io::Tensor> all = gatherInputs({"@" + path}, ports, 0, rounds, problems);
  for (Problem &wrong : problems)
    if (wrong.isFor<LacksInput>())
      wrong.fixes.clear(); // a flag of `run`
  std::vector<reference::Tensors> samples;
  if (!problems.empty())
    return samples;
  for (uint64_t step = 0; step < std::min<uint64_t>(rounds.steps, sampling.most); ++step) {
    reference::Tensors &sample = samples.emplace_back();
    for (const io::Tensor &tensor : all)
      sample.push_back(tensorOf(rounds.stacks ? stepOf(tensor, step) : tensor, sampling));
  }
  return samples;
}

/// Whether an archive has a member of that name: `reduce` writes random numbers too.
bool hasMember(const std::string &path, const std::string &name) {
  const auto read = io::readTensors(path);
  const auto *members = std::get_if<std::vector<io::Tensor>>(&read);
  return members != nullptr &&
         std::ranges::find(*members, name, &io::Tensor::name) != members->end();
}

std::vector<reference::Tensors> readFolder(const std::string &path, const std::vector<Port> &ports,
                                           const Sampling &sampling, Problems &problems) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    problems.push_back(
        problem("E0615", fmt::format("'{}' is neither an .npz file nor a folder", path)));
    return {};
  }
  std::vector<DataSet> sets = gatherDataSets(path, ports, nullptr, problems);
  std::vector<reference::Tensors> samples;
  if (!problems.empty())
    return samples;
  sets.resize(std::min(sets.size(), sampling.most));
  for (const DataSet &set : sets)
    std::ranges::transform(set.inputs, std::back_inserter(samples.emplace_back()),
                           [&](const io::Tensor &tensor) { return tensorOf(tensor, sampling); });
  return samples;
}

} // namespace

std::vector<reference::Tensors> readCalibration(const std::string &path,
                                                const std::vector<frontend::ImportedTensor> &inputs,
                                                Problems &problems, const Sampling &sampling) {
  const bool isArchive = path.ends_with(".npz");
  std::vector<Port> ports;
  for (const frontend::ImportedTensor &input : inputs)
    if (!input.random || (isArchive && hasMember(path, input.name)))
      ports.push_back({input.name, input.type, input.shape, input.limits});
  std::vector<reference::Tensors> samples = isArchive ? readArchive(path, ports, sampling, problems)
                                                      : readFolder(path, ports, sampling, problems);
  for (size_t i = 0; i < samples.size(); ++i) {
    reference::Tensors given = std::exchange(samples[i], {});
    for (size_t next = 0; const frontend::ImportedTensor &input : inputs)
      samples[i].push_back(next < ports.size() && ports[next].name == input.name
                               ? std::move(given[next++])
                               : check::drawnTensor(input, {0, i}));
  }
  return samples;
}

} // namespace sluice::cli
