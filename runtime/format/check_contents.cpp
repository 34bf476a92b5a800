// Everything in a program but its instructions: geometry, host tensors, memory
// images, source map.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"
#include "runtime/format/checks.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/steps.h"

namespace sluice::format {
namespace {

/// Rows of one direction of the host port (the width of a destination address).
constexpr uint64_t kHostRows = uint64_t{isa::kMostDst} + 1;
/// Rows of a core's weight memory (the same width).
constexpr uint64_t kWeightRows = kHostRows;

/// Every integer of up to this magnitude is a bf16 number.
constexpr int64_t kMostExact = 256;

/// An input of integers has limits within its type, and bf16 has all integers between them.
std::optional<std::string> checkLimits(const HostTensor &tensor, bool isOutput) {
  if (tensor.limits.has_value() != (isInteger(tensor.type) && !isOutput))
    return fmt::format("{} of type {} {} limits", isOutput ? "an output" : "an input",
                       nameOf(tensor.type), tensor.limits ? "has" : "has no");
  if (!tensor.limits)
    return std::nullopt;
  const Limits most = limitsOf(tensor.type), &found = *tensor.limits;
  const int64_t low = std::max(most.low, -kMostExact), high = std::min(most.high, kMostExact);
  if (found.low < low || found.high > high || found.low > found.high)
    return fmt::format("the limits are {} and {}, allowed: ascending, in [{}, {}]", found.low,
                       found.high, low, high);
  return std::nullopt;
}

/// What is wrong with a shape, or nothing.
std::optional<std::string> checkShape(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent < 1 || extent > kTensorElements)
      return fmt::format("an extent is {}, allowed: 1 to {}", extent, kTensorElements);
    elements *= extent;
    if (elements > kTensorElements)
      return fmt::format("the shape is too large, allowed: up to {} elements", kTensorElements);
  }
  return std::nullopt;
}

/// What is wrong with the elements of an array that an input has, or nothing.
std::optional<std::string> checkSelection(const HostTensor &tensor, const HostArray &array) {
  const Selection &selection = *tensor.selection;
  const int64_t elements = addressing::elementsOf(array.shape);
  bool isInside = selection.first >= 0 && selection.first < elements &&
                  selection.strides.size() == tensor.shape.size();
  int64_t first = selection.first, last = selection.first;
  for (size_t axis = 0; isInside && axis < tensor.shape.size(); ++axis) {
    const int64_t stride = selection.strides[axis], steps = tensor.shape[axis] - 1;
    isInside = steps == 0 || (stride > -elements && stride < elements);
    (stride < 0 ? first : last) += isInside && steps > 0 ? stride * steps : 0;
  }
  if (!isInside || first < 0 || last >= elements)
    return fmt::format("the elements from {} on, with strides [{}], are not all in array '{}'",
                       selection.first, fmt::join(selection.strides, ", "), array.name);
  return tensor.lookup || tensor.stepAxis
             ? std::optional<std::string>("a tensor with a lookup or steps is a part of its array")
             : std::nullopt;
}

/// What is wrong with the array of an input and the lookup in it, or nothing.
std::optional<std::string> checkLookup(const HostTensor &tensor,
                                       const std::vector<HostArray> &arrays, bool isOutput) {
  if (isOutput || arrays.empty())
    return tensor.array != 0 || tensor.lookup || tensor.selection
               ? std::optional<std::string>("the tensor has an array or a lookup, allowed: none")
               : std::nullopt;
  if (tensor.array >= arrays.size())
    return fmt::format("the array is {}, allowed: 0 to {}", tensor.array, arrays.size() - 1);
  const HostArray &array = arrays[tensor.array];
  if (tensor.selection)
    if (auto wrong = checkSelection(tensor, array))
      return wrong;
  const std::vector<int64_t> front(
      tensor.shape.begin(), tensor.shape.begin() + static_cast<ptrdiff_t>(std::min(
                                                       tensor.shape.size(), array.shape.size())));
  if (!tensor.selection &&
      (front != array.shape || (!tensor.lookup && tensor.shape.size() != front.size())))
    return fmt::format("the shape does not begin with that of array '{}'", array.name);
  if (tensor.quantised)
    return isInteger(array.type)
               ? std::optional(fmt::format("array '{}' of integers is quantised", array.name))
               : std::nullopt;
  if (!tensor.lookup) {
    const bool isWider = tensor.limits && (tensor.limits->low > array.limits->low ||
                                           tensor.limits->high < array.limits->high);
    return tensor.type != array.type || isWider
               ? std::optional(
                     fmt::format("the type or the limits are not those of array '{}'", array.name))
               : std::nullopt;
  }
  int64_t inner = 1;
  for (size_t axis = front.size(); axis < tensor.shape.size(); ++axis)
    inner *= tensor.shape[axis];
  const Lookup &lookup = *tensor.lookup;
  if (!array.limits)
    return fmt::format("array '{}' of type {} is looked up, allowed: integers", array.name,
                       nameOf(array.type));
  if (isInteger(tensor.type) || lookup.rowElements != inner || lookup.values.empty() ||
      lookup.values.size() % lookup.rowElements != 0)
    return fmt::format("the lookup has {} values in rows of {}, the shape needs rows of {}",
                       lookup.values.size(), lookup.rowElements, inner);
  return std::nullopt;
}

/// What is wrong with the quantisation of a tensor, or nothing.
std::optional<std::string> checkQuantisation(const HostTensor &tensor) {
  if (!tensor.quantised)
    return std::nullopt;
  const Quantisation &found = *tensor.quantised;
  if (!(found.scale > 0) || !std::isfinite(found.scale))
    return fmt::format("the scale is {}, allowed: finite and above 0", found.scale);
  const int64_t low = -kMostExact, high = kMostExact;
  if (found.limits.low < low || found.limits.high > high || found.limits.low > found.limits.high ||
      found.zero < found.limits.low || found.zero > found.limits.high)
    return fmt::format("the zero point is {} and the limits are {} and {}, allowed: ascending, in "
                       "[{}, {}]",
                       found.zero, found.limits.low, found.limits.high, low, high);
  return isInteger(tensor.type) || tensor.lookup
             ? std::optional<std::string>("a tensor of integers or with a lookup is quantised")
             : std::nullopt;
}

/// What is wrong with what the host makes of a tensor, or nothing.
std::optional<std::string> checkHostTensor(const HostTensor &tensor,
                                           const std::vector<HostArray> &arrays, bool isOutput) {
  if (elementBytes(tensor.type) == 0)
    return fmt::format("the element type is {}, allowed: 1 to {}",
                       static_cast<unsigned>(tensor.type), static_cast<unsigned>(kLastHostType));
  if (auto wrong = checkLimits(tensor, isOutput))
    return wrong;
  if (auto wrong = checkLookup(tensor, arrays, isOutput))
    return wrong;
  return checkQuantisation(tensor);
}

/// What is wrong with the arrays of a model, or nothing.
std::optional<std::string> checkArrays(const Model &model) {
  std::set<std::string> names;
  for (const HostArray &array : model.arrays) {
    if (array.name.empty() || !isUtf8(array.name) || !names.insert(array.name).second)
      return "the name of an array is empty, not UTF-8 text, or used twice";
    if (elementBytes(array.type) == 0 || isInteger(array.type) != array.limits.has_value())
      return fmt::format("the type of array '{}' is wrong, or its limits are", array.name);
    if (const auto wrong = checkShape(array.shape))
      return fmt::format("array '{}': {}", array.name, *wrong);
    const Limits most = isInteger(array.type) ? limitsOf(array.type) : Limits();
    if (array.limits && (array.limits->low < most.low || array.limits->high > most.high ||
                         array.limits->low > array.limits->high))
      return fmt::format("the limits of array '{}' are {} and {}, allowed: ascending, in [{}, {}]",
                         array.name, array.limits->low, array.limits->high, most.low, most.high);
    if (&array != model.arrays.data() && !array.random && std::prev(&array)->random)
      return fmt::format("array '{}' of the user follows one of random numbers", array.name);
    if (!array.random)
      continue;
    if (isInteger(array.type))
      return fmt::format("array '{}' of random numbers has type {}, allowed: floating-point types",
                         array.name, nameOf(array.type));
    if (const std::string wrong = random::problemOf(*array.random); !wrong.empty())
      return fmt::format("array '{}': {}", array.name, wrong);
  }
  return std::nullopt;
}

/// What is wrong with a tensor by itself, or nothing.
std::optional<std::string> checkTensor(const HostTensor &tensor,
                                       const std::vector<HostArray> &arrays, bool isOutput,
                                       uint32_t steps, uint32_t lanes) {
  if (tensor.name.empty() || !isUtf8(tensor.name))
    return "the name is empty or not UTF-8 text";
  if (auto wrong = checkShape(tensor.shape))
    return wrong;
  if (auto wrong = checkStepPart(tensor, isOutput, steps))
    return wrong;
  const PackedRows part(tensor, steps);
  if (auto wrong = part.problem())
    return wrong;
  const int64_t rows = part.rows(lanes);
  if (tensor.rows != rows)
    return fmt::format("the tensor has {} rows, its shape needs {}", tensor.rows, rows);
  return checkHostTensor(tensor, arrays, isOutput);
}

/// Rows of several tensors, which must not overlap.
class RowMap {
public:
  /// The name of a tensor that has one of these rows already, or null.
  const std::string *claim(const HostTensor &tensor) {
    const uint64_t first = tensor.firstRow;
    const uint64_t end = first + tensor.rows;
    const auto next = byFirst.lower_bound(first);
    if (next != byFirst.end() && next->first < end)
      return &next->second->name;
    if (next != byFirst.begin()) {
      const HostTensor *before = std::prev(next)->second;
      if (uint64_t{before->firstRow} + before->rows > first)
        return &before->name;
    }
    byFirst.emplace(first, &tensor);
    return nullptr;
  }

private:
  std::map<uint64_t, const HostTensor *> byFirst;
};

} // namespace

std::optional<std::string> checkHostSide(const Model &model) {
  if (auto wrong = checkArrays(model))
    return wrong;
  for (const bool isOutput : {false, true})
    for (const HostTensor &tensor : isOutput ? model.outputs : model.inputs)
      if (const auto wrong = checkHostTensor(tensor, model.arrays, isOutput))
        return fmt::format("{} '{}': {}", isOutput ? "output" : "input", tensor.name, *wrong);
  return std::nullopt;
}

std::optional<std::string> checkGeometry(const Geometry &geometry) {
  auto nameOk = [](const std::string &name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
  };
  if (!nameOk(geometry.name) || !nameOk(geometry.rtl))
    return "'name' and 'rtl' must have 1 to 64 characters from a-z, 0-9, '-' and '_'";
  if (geometry.clockSource.empty() || geometry.clockSource.size() > 64 ||
      std::ranges::any_of(geometry.clockSource, [](char c) { return c < ' ' || c > '~'; }))
    return "'clock_source' must have 1 to 64 printable ASCII characters";
  struct Limit {
    const char *field;
    uint32_t value, low, high;
  };
  // No field of an instruction addresses instructions, so this limit is a choice.
  constexpr uint32_t kInstructions = 1U << 14;
  // The other upper limits are the widths of the instruction fields that address them.
  for (const Limit &limit : std::initializer_list<Limit>{
           {"cores", geometry.cores, 1, isa::kMaxCores},
           {"lanes", geometry.lanes, 4, 64},
           {"pe_terms", geometry.peTerms, 1, geometry.lanes},
           {"weight_blocks", geometry.weightBlocks, 1, isa::kMostW + 1},
           {"inbox_rows", geometry.inboxRows, 1, isa::kLocalBase},
           {"local_rows", geometry.localRows, 1, isa::kMostX + 1 - isa::kLocalBase},
           {"accumulators", geometry.accumulators, 1, isa::kMostAcc + 1},
           {"preload_rows", geometry.preloadRows, 1, isa::kMostP + 1},
           {"instructions", geometry.instructions, 1, kInstructions},
           {"host_instructions", geometry.hostInstructions, 1, kInstructions},
           {"tables", geometry.tables, 1, isa::kMostTableId + 1},
           {"clock_mhz", geometry.clockMhz, 1, 10000}})
    if (limit.value < limit.low || limit.value > limit.high)
      return fmt::format("{} is {}, allowed: {} to {}", limit.field, limit.value, limit.low,
                         limit.high);
  for (const isa::StageInfo &stage : isa::kStages)
    if (const uint32_t value = geometry.stages.*stage.value;
        value < stage.least || value > stage.most)
      return fmt::format("{} is {}, allowed: {} to {}", stage.name, value, stage.least, stage.most);
  if (!std::has_single_bit(geometry.lanes))
    return fmt::format("lanes is {}, allowed: a power of two", geometry.lanes);
  if (geometry.lanes % geometry.peTerms != 0)
    return fmt::format("pe_terms is {}, allowed: a divisor of lanes ({})", geometry.peTerms,
                       geometry.lanes);
  const uint64_t weightRows = uint64_t{geometry.weightBlocks} * geometry.lanes;
  if (weightRows > kWeightRows)
    return fmt::format("weight_blocks times lanes is {}, allowed: up to {}", weightRows,
                       kWeightRows);
  return std::nullopt;
}

bool isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int length = first < 0x80       ? 1
                       : first >> 5 == 6  ? 2
                       : first >> 4 == 14 ? 3
                       : first >> 3 == 30 ? 4
                                          : 0;
    if (length == 0 || text.size() - i < size_t(length))
      return false;
    uint32_t point = length == 1 ? first : first & (0x7F >> length);
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if (next >> 6 != 2)
        return false;
      point = point << 6 | (next & 0x3F);
    }
    constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < smallest[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      return false;
    i += length;
  }
  return true;
}

void checkModels(const Program &program, ProblemList &problems) {
  if (program.models.empty())
    problems.add("E0511", "the program has no model");
  std::set<std::string> models;
  RowMap outputRows;
  for (const Model &model : program.models) {
    auto bad = [&](std::string_view direction, const HostTensor &tensor, std::string_view what) {
      problems.add("E0511", fmt::format("{} '{}' of model '{}': {}", direction,
                                        isUtf8(tensor.name) ? tensor.name : "?", model.name, what));
    };
    if (model.name.empty() || !isUtf8(model.name) || !models.insert(model.name).second) {
      problems.add("E0511", "a model's name is empty, not UTF-8 text, or used twice");
      continue;
    }
    if (model.outputs.empty())
      problems.add("E0511", fmt::format("model '{}' has no output", model.name));
    if (const auto wrong = checkSteps(program, model)) {
      problems.add("E0511", fmt::format("model '{}': {}", model.name, *wrong));
      continue;
    }
    if (const auto wrong = checkArrays(model)) {
      problems.add("E0511", fmt::format("model '{}': {}", model.name, *wrong));
      continue;
    }
    RowMap inputRows;
    for (bool isOutput : {false, true}) {
      const std::string_view direction = isOutput ? "output" : "input";
      std::set<std::string> names;
      for (const HostTensor &tensor : isOutput ? model.outputs : model.inputs) {
        const auto wrong =
            checkTensor(tensor, model.arrays, isOutput, model.steps, program.geometry.lanes);
        if (wrong) {
          bad(direction, tensor, *wrong);
          continue;
        }
        if (!names.insert(tensor.name).second)
          bad(direction, tensor, "the name is used twice");
        if (isOutput && uint64_t{tensor.firstRow} + tensor.rows > kHostRows)
          bad(direction, tensor,
              fmt::format("the output uses rows {} to {}, allowed: 0 to {}", tensor.firstRow,
                          uint64_t{tensor.firstRow} + tensor.rows - 1, kHostRows - 1));
        if (const std::string *other = (isOutput ? outputRows : inputRows).claim(tensor))
          bad(direction, tensor, fmt::format("overlaps the rows of '{}'", *other));
        if (problems.full())
          return;
      }
    }
  }
}

void checkImages(const Program &program, ProblemList &problems) {
  const Geometry &geometry = program.geometry;
  const uint32_t lanes = geometry.lanes;
  for (uint32_t index = 0; index < program.cores.size(); ++index) {
    const CoreImage &core = program.cores[index];
    // One rule for all: ascending, in range, of the right size.
    auto item = [&](std::string_view kind, int64_t &previous, uint32_t number, uint64_t limit,
                    size_t size, size_t expected) {
      if (number >= limit)
        problems.add("E0512", fmt::format("core {}: {} {} does not exist, allowed: below {}", index,
                                          kind, number, limit));
      else if (int64_t{number} <= previous)
        problems.add("E0512", fmt::format("core {}: {} {} follows {}, allowed: ascending order",
                                          index, kind, number, previous));
      if (size != expected)
        problems.add("E0512", fmt::format("core {}: {} {} has {} values, expected {}", index, kind,
                                          number, size, expected));
      previous = number;
    };
    int64_t previous = -1;
    for (const WeightImage &image : core.weights) {
      item("weight block", previous, image.block, geometry.weightBlocks, image.elements.size(),
           size_t{lanes} * lanes);
      const auto infinite = std::find_if(image.elements.begin(), image.elements.end(),
                                         [](uint16_t e) { return (e & 0x7F80) == 0x7F80; });
      if (infinite != image.elements.end())
        problems.add(
            "E0512",
            fmt::format("core {}: weight block {} holds an infinity or NaN, allowed: finite values",
                        index, image.block));
    }
    previous = -1;
    for (const PreloadImage &image : core.preloads) {
      item("preload row", previous, image.row, geometry.preloadRows, image.lanes.size(), lanes);
      if (std::any_of(image.lanes.begin(), image.lanes.end(),
                      [](uint64_t lane) { return lane >> 55 != 0; }))
        problems.add(
            "E0512",
            fmt::format("core {}: preload row {} sets bits above bit 54, allowed: bits 0 to 54",
                        index, image.row));
    }
    previous = -1;
    for (const TableImage &image : core.tables) {
      item("table", previous, image.table, geometry.tables, image.entries.size(),
           isa::kTableEntries);
      const uint64_t mode = image.header[0] & 3, base = (image.header[0] >> 8) & 255;
      if (mode == 3)
        problems.add("E0512", fmt::format("core {}: table {} has mode 3, allowed: 0 to 2", index,
                                          image.table));
      if (mode == isa::kTableLog && base != isa::kTableLogBase)
        problems.add("E0512", fmt::format("core {}: log table {} has base {}, allowed: {}", index,
                                          image.table, base, isa::kTableLogBase));
    }
    uint64_t end = 0;
    for (const RowImage &image : core.rows) {
      const uint64_t rows = image.lanes.size() / lanes;
      if (rows == 0 || image.lanes.size() % lanes != 0)
        problems.add(
            "E0512",
            fmt::format("core {}: the rows at {} have {} values, expected a multiple of {}", index,
                        image.address, image.lanes.size(), lanes));
      const bool local = image.address >= isa::kLocalBase;
      const uint64_t limit =
          local ? uint64_t{isa::kLocalBase} + geometry.localRows : geometry.inboxRows;
      if (image.address < end || image.address + rows > limit)
        problems.add(
            "E0512",
            fmt::format(
                "core {}: rows {} to {} are out of order or range, allowed: from {} and below {}",
                index, image.address, image.address + rows - 1, end, limit));
      end = image.address + rows;
    }
  }
}

void checkSourceMap(const Program &program, ProblemList &problems) {
  for (const SourceNode &node : program.nodes)
    if (node.index < -1 || !isUtf8(node.name) || !isUtf8(node.op))
      problems.add("E0513", "a source node has an index below -1 or a name that is not UTF-8 text");
  if (!isUtf8(program.compilerVersion) || !isUtf8(program.options))
    problems.add("E0513", "the compiler version or the options are not UTF-8 text");
  const SourceEntry *previous = nullptr;
  for (const SourceEntry &entry : program.sourceMap) {
    const size_t cores = program.cores.size();
    const size_t count = entry.core < cores    ? program.cores[entry.core].instructions.size()
                         : entry.core == cores ? program.hostInstructions.size()
                                               : 0;
    if (entry.instruction >= count)
      problems.add("E0513",
                   fmt::format("the source map names instruction {} of core {}, which does "
                               "not exist",
                               entry.instruction, entry.core));
    if (previous && std::pair(previous->core, previous->instruction) >=
                        std::pair(entry.core, entry.instruction))
      problems.add("E0513", fmt::format("the source map is not in order at core {} instruction {}",
                                        entry.core, entry.instruction));
    for (uint32_t node : entry.nodes)
      if (node >= program.nodes.size())
        problems.add("E0513",
                     fmt::format("the source map names node {}, but the program has {} nodes", node,
                                 program.nodes.size()));
    previous = &entry;
    if (problems.full())
      return;
  }
}

std::vector<FileProblem> check(const Program &program, size_t limit) {
  ProblemList problems(limit);
  if (const auto wrong = checkGeometry(program.geometry)) {
    problems.add("E0508", *wrong);
  } else if (program.cores.size() != program.geometry.cores) {
    problems.add("E0507",
                 fmt::format("the program has instructions for {} cores, the geometry has {} cores",
                             program.cores.size(), program.geometry.cores));
  } else {
    checkModels(program, problems);
    checkState(program, problems);
    checkImages(program, problems);
    checkSourceMap(program, problems);
    // Instructions are checked against the host tensors and the state, so those must be right.
    if (problems.empty())
      checkInstructions(program, problems);
    // What rows are is said of instructions that are right.
    if (problems.empty())
      checkComputedRows(program, problems);
  }
  return problems.take();
}

} // namespace sluice::format
