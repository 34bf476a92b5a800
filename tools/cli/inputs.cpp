#include "tools/cli/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "compiler/support/suggestion.h"
#include "hw/numerics/bf16.h"
#include "runtime/api/element.h"
#include "runtime/api/packing.h"
#include "tools/cli/command_output.h"
#include "tools/cli/shell_word.h"
#include "tools/cli/tensor_error.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

std::string names(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "'" : ", '") + port.name + "'";
  return text.empty() ? "none" : text;
}

/// E0603, with a flag that gives the input.
Problem missing(const Port &port, bool hint) {
  Problem wrong =
      problem("E0603", fmt::format("input '{}' {} is not given", port.name, shapeText(port.shape)),
              LacksInput());
  if (hint) {
    Fix &fix = wrong.fixes.emplace_back();
    fix.flag = "--input " + shellWord(port.name + "=random:1");
    fix.text = fmt::format("add {}, or @FILE in place of random:1", *fix.flag);
  }
  return wrong;
}

std::optional<Problem> checkShape(const io::Tensor &tensor, const Port &port, std::string_view kind,
                                  const Rounds &rounds = {}) {
  if (tensor.shape == port.shape || hasRounds(tensor, port, rounds))
    return std::nullopt;
  std::string all;
  std::vector<int64_t> shape = port.shape;
  if (rounds.steps > 1 || rounds.stacks) {
    shape.insert(shape.begin(), static_cast<int64_t>(rounds.steps));
    all = fmt::format(", {} for {} step{}", shapeText(shape), rounds.steps,
                      rounds.steps == 1 ? "" : "s");
  }
  if (rounds.streams > 1) {
    shape.insert(shape.begin(), static_cast<int64_t>(rounds.streams));
    all += fmt::format(", {} for {} streams", shapeText(shape), rounds.streams);
  }
  return problem("E0604", fmt::format("{} '{}' has shape {}, allowed: {}{}", kind, port.name,
                                      shapeText(tensor.shape), shapeText(port.shape), all));
}

/// A tensor that has the steps of a port's along one of its own axes, with them along a new first
/// one; any other as it is.
io::Tensor stepsFirst(io::Tensor tensor, const Port &port, uint64_t steps) {
  const auto count = static_cast<int64_t>(steps);
  const std::vector<int64_t> &shape = port.shape;
  if (steps == 1 || tensor.shape.size() != shape.size())
    return tensor;
  const auto differs = std::ranges::mismatch(tensor.shape, shape);
  if (differs.in1 == tensor.shape.end() || *differs.in1 != *differs.in2 * count ||
      !std::equal(std::next(differs.in1), tensor.shape.end(), std::next(differs.in2)))
    return tensor;
  const auto outer = static_cast<size_t>(io::elementCount({shape.begin(), differs.in2}));
  const size_t part = tensor.data.size() / (outer * steps); // bytes of one step
  std::vector<uint8_t> data;
  for (size_t step = 0; step < steps; ++step)
    for (size_t i = 0; i < outer; ++i) {
      const auto from =
          tensor.data.begin() + static_cast<std::ptrdiff_t>((i * steps + step) * part);
      data.insert(data.end(), from, from + static_cast<std::ptrdiff_t>(part));
    }
  tensor.data = std::move(data);
  tensor.shape = shape;
  tensor.shape.insert(tensor.shape.begin(), count);
  return tensor;
}

/// A tensor that has the streams of a port's along its first axis, with all inferences along it
/// in the order of the run; any other as it is.
io::Tensor roundsFirst(io::Tensor tensor, const Port &port, const Rounds &rounds) {
  if (rounds.streams == 1)
    return stepsFirst(std::move(tensor), port, rounds.steps);
  if (tensor.shape.empty() || tensor.shape[0] != static_cast<int64_t>(rounds.streams))
    return tensor;
  std::vector<io::Tensor> streams;
  for (uint64_t stream = 0; stream < rounds.streams; ++stream) {
    io::Tensor one = stepsFirst(stepOf(tensor, stream), port, rounds.steps);
    if (rounds.steps > 1 ? !hasRounds(one, port, {rounds.steps}) : one.shape != port.shape)
      return tensor;
    streams.push_back(std::move(one));
  }
  std::vector<io::Tensor> all;
  for (uint64_t i = 0; i < rounds.all(); ++i) {
    const io::Tensor &stream = streams[i % rounds.streams];
    all.push_back(rounds.steps > 1 ? stepOf(stream, i / rounds.streams) : stream);
  }
  std::vector<const io::Tensor *> order;
  for (const io::Tensor &one : all)
    order.push_back(&one);
  return stacked(order);
}

std::optional<Problem> checkElements(const io::Tensor &tensor, const Port &port) {
  if (!port.limits)
    return std::nullopt;
  std::string wrong = runtime::refusedElement(port.name, port.type, *port.limits,
                                              {tensor.data.data(), tensor.type, tensor.shape});
  return wrong.empty() ? std::nullopt : std::optional(problem("E0618", std::move(wrong)));
}

io::Tensor zeros(const Port &port) {
  io::Tensor tensor{port.name, io::Type::Float32, port.shape, {}};
  tensor.data.resize(static_cast<size_t>(io::elementCount(port.shape)) * 4);
  return tensor;
}

/// SplitMix64: the same numbers on every machine.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

/// The files PREFIX0.pb, PREFIX1.pb, ... of a folder, in order.
std::vector<fs::path> numbered(const fs::path &folder, const std::string &prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (size_t i = 0; fs::is_regular_file(folder / fmt::format("{}{}.pb", prefix, i), error); ++i)
    found.push_back(folder / fmt::format("{}{}.pb", prefix, i));
  return found;
}

/// Reads the files into a map by port: by the name in the file if it is one of
/// the ports', else by the file's number.
std::map<size_t, io::Tensor> readNumbered(const std::vector<fs::path> &files,
                                          const std::vector<Port> &ports, std::string_view kind,
                                          Problems &problems) {
  std::map<size_t, io::Tensor> found;
  for (size_t i = 0; i < files.size(); ++i) {
    auto read = readOne(files[i].string(), "");
    if (const auto *wrong = std::get_if<Problem>(&read)) {
      problems.push_back(*wrong);
      if (i < ports.size())
        found.emplace(i, zeros(ports[i])); // not missing as well
      continue;
    }
    auto &tensor = std::get<io::Tensor>(read);
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const Port &candidate) {
      return candidate.name == tensor.name;
    });
    const size_t index = port == ports.end() ? i : static_cast<size_t>(port - ports.begin());
    if (index >= ports.size() || found.contains(index)) {
      problems.push_back(problem("E0615", fmt::format("'{}' is an extra {}, the model has only {}",
                                                      files[i].string(), kind, names(ports))));
      continue;
    }
    if (const auto wrong = checkShape(tensor, ports[index], kind))
      problems.push_back(*wrong);
    else if (const auto refused = checkElements(tensor, ports[index]))
      problems.push_back(*refused);
    found.emplace(index, std::move(tensor));
  }
  return found;
}

} // namespace

io::Tensor randomTensor(const Port &port, uint64_t seed, size_t index, uint64_t round) {
  io::Tensor tensor = zeros(port);
  uint64_t state = seed ^ (index + 1) * 0xD1B54A32D192ED03 ^ round * 0x8CB92BA72F3D8DD7;
  for (size_t i = 0; i < tensor.data.size(); i += 4) {
    const uint64_t bits = nextRandom(state) >> 40;
    float value = static_cast<float>(bits) * 0x1p-23F - 1;
    if (port.limits) {
      const auto [low, high] = *port.limits;
      value = static_cast<float>(low + static_cast<int64_t>(bits) % (high - low + 1));
    }
    std::memcpy(tensor.data.data() + i, &value, 4);
  }
  return tensor;
}

std::optional<Problem> splitSpec(const std::string &spec, std::string &name, std::string &value) {
  const size_t equals = spec.rfind('=', spec.find('@'));
  if (equals == std::string::npos || equals == 0)
    return problem("E0601", fmt::format("'{}' is not of the form NAME=VALUE", spec));
  name = spec.substr(0, equals);
  value = spec.substr(equals + 1);
  return std::nullopt;
}

std::string overflowText(const io::Tensor &tensor) {
  const std::vector<double> values = io::values(tensor);
  size_t count = 0;
  size_t first = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) &&
        std::isinf(runtime::floatFromBf16(runtime::bf16FromDouble(values[i]))) && count++ == 0)
      first = i;
  if (count == 0)
    return "";
  return fmt::format("{} value{} beyond the range of bf16 ({:.6g}), which become{} infinite; {} "
                     "{:.6g} at {}",
                     count, count == 1 ? "" : "s", numerics::kLargestBf16, count == 1 ? "s" : "",
                     count == 1 ? "it is" : "the first is", values[first],
                     placeText(first, tensor.shape));
}

std::variant<io::Tensor, Problem> readOne(const std::string &path, const std::string &name) {
  auto read = io::readTensors(path);
  if (const auto *wrong = std::get_if<io::Error>(&read))
    return problem(wrong->code, wrong->message);
  auto &tensors = std::get<std::vector<io::Tensor>>(read);
  for (io::Tensor &tensor : tensors)
    if (tensors.size() == 1 || tensor.name == name)
      return std::move(tensor);
  return problem("E0602", fmt::format("'{}' has no member '{}'", path, name));
}

std::optional<size_t> findPort(const std::string &name, const std::vector<Port> &ports,
                               std::string_view kind, Problems &problems) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name)
      return i;
  Problem unknown = problem(
      "E0602", fmt::format("the model has no {} '{}', allowed: {}", kind, name, names(ports)));
  std::vector<std::string> known;
  for (const Port &port : ports)
    known.push_back(port.name);
  unknown.fixes = suggestion(name, known);
  problems.push_back(std::move(unknown));
  return std::nullopt;
}

bool hasRounds(const io::Tensor &tensor, const Port &port, const Rounds &rounds) {
  const uint64_t inferences = rounds.all();
  return (inferences > 1 || rounds.stacks) && tensor.shape.size() == port.shape.size() + 1 &&
         tensor.shape[0] == static_cast<int64_t>(inferences) &&
         std::equal(port.shape.begin(), port.shape.end(), tensor.shape.begin() + 1);
}

io::Tensor stepOf(const io::Tensor &tensor, uint64_t step) {
  io::Tensor one{tensor.name, tensor.type, {tensor.shape.begin() + 1, tensor.shape.end()}, {}};
  const size_t bytes = tensor.data.size() / static_cast<size_t>(tensor.shape[0]);
  const auto first = tensor.data.begin() + static_cast<std::ptrdiff_t>(step * bytes);
  one.data.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
  return one;
}

io::Tensor stacked(const std::vector<const io::Tensor *> &tensors) {
  io::Tensor all{tensors[0]->name, tensors[0]->type, tensors[0]->shape, {}};
  all.shape.insert(all.shape.begin(), static_cast<int64_t>(tensors.size()));
  for (const io::Tensor *one : tensors)
    all.data.insert(all.data.end(), one->data.begin(), one->data.end());
  return all;
}

std::vector<io::Tensor> gatherInputs(const std::vector<std::string> &specs,
                                     const std::vector<Port> &ports, uint64_t round,
                                     const Rounds &rounds, Problems &problems) {
  std::vector<std::optional<io::Tensor>> found(ports.size());
  auto give = [&](const std::string &name, auto make) {
    const auto index = findPort(name, ports, "input", problems);
    if (!index)
      return;
    if (found[*index]) {
      problems.push_back(problem("E0603", fmt::format("input '{}' is given twice", name)));
      return;
    }
    std::variant<io::Tensor, Problem> made = make(*index);
    if (const auto *wrong = std::get_if<Problem>(&made)) {
      problems.push_back(*wrong);
      found[*index] = zeros(ports[*index]); // not missing as well
      return;
    }
    io::Tensor tensor = roundsFirst(std::move(std::get<io::Tensor>(made)), ports[*index], rounds);
    if (const auto wrong = checkShape(tensor, ports[*index], "input", rounds))
      problems.push_back(*wrong);
    else if (const auto refused = checkElements(tensor, ports[*index]))
      problems.push_back(*refused);
    found[*index] = std::move(tensor);
  };
  for (const std::string &spec : specs) {
    if (spec.starts_with('@')) {
      if (!spec.ends_with(".npz")) {
        problems.push_back(problem(
            "E0601",
            fmt::format(
                "'{}' names no input, allowed: NAME=@FILE, or @FILE.npz with one member per input",
                spec)));
        continue;
      }
      auto read = io::readTensors(spec.substr(1));
      if (const auto *wrong = std::get_if<io::Error>(&read)) {
        problems.push_back(problem(wrong->code, wrong->message));
        continue;
      }
      for (io::Tensor &tensor : std::get<std::vector<io::Tensor>>(read))
        give(tensor.name, [&](size_t) -> std::variant<io::Tensor, Problem> { return tensor; });
      continue;
    }
    std::string name;
    std::string value;
    if (const auto wrong = splitSpec(spec, name, value)) {
      problems.push_back(*wrong);
      continue;
    }
    give(name, [&](size_t index) -> std::variant<io::Tensor, Problem> {
      if (value == "zeros")
        return zeros(ports[index]);
      if (value.starts_with("random:")) {
        uint64_t seed = 0;
        const char *end = value.data() + value.size();
        const auto parsed = std::from_chars(value.data() + 7, end, seed);
        if (parsed.ec == std::errc() && parsed.ptr == end)
          return randomTensor(ports[index], seed, index, round);
      }
      if (value.starts_with('@'))
        return readOne(value.substr(1), name);
      return problem("E0601", fmt::format("input '{}' is '{}', allowed: @FILE, zeros, random:SEED",
                                          name, value));
    });
  }
  std::vector<io::Tensor> inputs;
  const bool hint = problems.empty(); // else the other problems say which input was meant
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!found[i])
      problems.push_back(missing(ports[i], hint));
    else
      inputs.push_back(std::move(*found[i]));
  }
  return inputs;
}

std::map<size_t, io::Tensor> gatherReferences(const std::vector<std::string> &specs,
                                              const std::vector<Port> &ports, const Rounds &rounds,
                                              Problems &problems) {
  std::map<size_t, io::Tensor> references;
  for (const std::string &spec : specs) {
    std::string name;
    std::string value;
    if (const auto wrong = splitSpec(spec, name, value)) {
      problems.push_back(*wrong);
      continue;
    }
    const auto index = findPort(name, ports, "output", problems);
    if (!index)
      continue;
    if (!value.starts_with('@')) {
      problems.push_back(
          problem("E0601", fmt::format("output '{}' is '{}', allowed: @FILE", name, value)));
      continue;
    }
    auto read = readOne(value.substr(1), name);
    if (const auto *wrong = std::get_if<Problem>(&read)) {
      problems.push_back(*wrong);
      continue;
    }
    io::Tensor tensor = roundsFirst(std::move(std::get<io::Tensor>(read)), ports[*index], rounds);
    if (const auto wrong = checkShape(tensor, ports[*index], "reference of output", rounds))
      problems.push_back(*wrong);
    references[*index] = std::move(tensor);
  }
  return references;
}

std::vector<DataSet> gatherDataSets(const std::string &folder, const std::vector<Port> &inputs,
                                    const std::vector<Port> *outputs, Problems &problems) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    problems.push_back(problem("E0615", fmt::format("'{}' is not a folder", folder)));
    return {};
  }
  if (fs::exists(fs::path(folder) / "input_0.pb", error) ||
      fs::exists(fs::path(folder) / "output_0.pb", error))
    folders.emplace_back(folder);
  else
    for (size_t i = 0;
         fs::is_directory(fs::path(folder) / fmt::format("test_data_set_{}", i), error); ++i)
      folders.push_back(fs::path(folder) / fmt::format("test_data_set_{}", i));
  if (folders.empty())
    problems.push_back(
        problem("E0615", fmt::format("'{}' has neither input_0.pb nor test_data_set_0", folder)));
  std::vector<DataSet> sets;
  for (const fs::path &path : folders) {
    DataSet set;
    set.name = path.string();
    auto found = readNumbered(numbered(path, "input_"), inputs, "input", problems);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (found.contains(i))
        set.inputs.push_back(std::move(found[i]));
      else
        problems.push_back(problem(
            "E0615", fmt::format("'{}' has no file for input '{}'", set.name, inputs[i].name)));
    }
    if (outputs != nullptr)
      set.references =
          readNumbered(numbered(path, "output_"), *outputs, "reference of output", problems);
    sets.push_back(std::move(set));
  }
  return sets;
}

} // namespace sluice::cli
