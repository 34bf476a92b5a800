// sluice inspect: what is in a program file.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/problem_text.h"
#include "hw/isa/isa.h"
#include "runtime/device/places.h"
#include "runtime/device/stall.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/program_file.h"
#include "runtime/format/steps.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/tensor.h"
#include "tools/cli/memory_fill.h"

namespace sluice::cli {
namespace {

struct InspectOptions {
  std::string file;
  bool sections = false, io = false, memory = false, assembly = false, map = false;
  std::optional<uint32_t> core;
  std::vector<std::string> rows, elements;
};

/// A tensor row of a core.
struct Place {
  uint32_t core = 0, row = 0;
};

/// The parts of the answer, as text and as JSON.
struct Answer {
  std::string text;
  Json json;
};

void addSections(Answer &answer, std::span<const uint8_t> bytes) {
  answer.text += fmt::format("{:<13} {:>10} {:>10}  {}\n", "section", "offset", "bytes", "sha256");
  Json list = Json::array();
  for (const format::SectionInfo &info : format::sections(bytes)) {
    const auto name = format::kSectionNames[static_cast<size_t>(info.kind) - 1];
    const std::string hash = format::hex(info.hash);
    answer.text += fmt::format("{:<13} {:>10} {:>10}  {}\n", name, info.offset, info.size, hash);
    list.push_back(
        {{"name", name}, {"offset", info.offset}, {"bytes", info.size}, {"sha256", hash}});
  }
  answer.json["sections"] = list;
}

/// Where a tensor has its parts of an inference of several steps.
std::string stepsText(const format::HostTensor &tensor) {
  if (!tensor.stepAxis)
    return "";
  return fmt::format(" of each step along axis {}{}", *tensor.stepAxis,
                     tensor.skipped == 0 ? ""
                                         : fmt::format(", {} positions skipped", tensor.skipped));
}

std::string limitsText(const std::optional<format::Limits> &limits) {
  return limits ? fmt::format(", integers from {} to {}", limits->low, limits->high) : "";
}

Json limitsJson(const std::optional<format::Limits> &limits) {
  return limits ? Json({limits->low, limits->high}) : Json(nullptr);
}

Json randomJson(const std::optional<random::RandomNumbers> &numbers) {
  if (!numbers)
    return nullptr;
  return {{"distribution", random::nameOf(numbers->distribution)},
          {"parameters", {numbers->first, numbers->second}},
          {"stream", fmt::format("{:016x}", numbers->stream)}};
}

Json selectionJson(const std::optional<format::Selection> &selection) {
  return selection ? Json({{"first", selection->first}, {"strides", selection->strides}})
                   : Json(nullptr);
}

/// The arrays of the host, where tensors are made from them.
Json addArrays(Answer &answer, const format::Model &model) {
  Json list = Json::array();
  for (size_t i = 0; i < model.arrays.size(); ++i) {
    const format::HostArray &array = model.arrays[i];
    Json tensors = Json::array();
    for (const format::HostTensor &tensor : model.inputs)
      if (tensor.array == i)
        tensors.push_back(
            {{"name", tensor.name},
             {"table_rows", tensor.lookup ? Json(tensor.lookup->rows()) : Json(nullptr)}});
    answer.text += fmt::format("  {:<6} {} {} {}{}{}{}\n", array.random ? "drawn" : "input",
                               printable(array.name), nameOf(array.type), shapeText(array.shape),
                               limitsText(array.limits), tensors.empty() ? ", not sent" : "",
                               array.random ? ", " + random::textOf(*array.random) : "");
    list.push_back({{"name", array.name},
                    {"type", nameOf(array.type)},
                    {"shape", array.shape},
                    {"limits", limitsJson(array.limits)},
                    {"random", randomJson(array.random)},
                    {"tensors", tensors}});
  }
  return list;
}

Json addTensors(Answer &answer, std::string_view kind, const std::vector<format::HostTensor> &all,
                uint32_t steps) {
  Json list = Json::array();
  for (const format::HostTensor &tensor : all) {
    const format::PackedRows rows(tensor, steps);
    const auto type = format::nameOf(tensor.type);
    answer.text += fmt::format(
        "  {:<6} {} {} {}, data dimension {}{}, rows {} to {}{}{}{}\n", kind,
        printable(tensor.name), type, shapeText(tensor.shape), rows.tensorDim(),
        tensor.packed.empty() ? "" : ", packed as " + shapeText(tensor.packed), tensor.firstRow,
        tensor.firstRow + tensor.rows - 1, stepsText(tensor), limitsText(tensor.limits),
        tensor.lookup      ? fmt::format(", looked up in a table of {} rows", tensor.lookup->rows())
        : tensor.quantised ? fmt::format(", quantised by {} with zero point {}",
                                         tensor.quantised->scale, tensor.quantised->zero)
        : tensor.codes     ? ", codes of indices"
                           : "");
    list.push_back({{"name", tensor.name},
                    {"type", type},
                    {"shape", tensor.shape},
                    {"data_dim", rows.tensorDim()},
                    {"packed", tensor.packed.empty() ? Json(nullptr) : Json(tensor.packed)},
                    {"limits", limitsJson(tensor.limits)},
                    {"first_row", tensor.firstRow},
                    {"rows", tensor.rows},
                    {"step_axis", tensor.stepAxis ? Json(*tensor.stepAxis) : Json(nullptr)},
                    {"skipped", tensor.skipped},
                    {"selection", selectionJson(tensor.selection)}});
  }
  return list;
}

void addIo(Answer &answer, const format::Program &program) {
  answer.text += fmt::format("target {}, compiler {}, options '{}'\n", program.geometry.name,
                             printable(program.compilerVersion), printable(program.options));
  answer.json["target"] = program.geometry.name;
  answer.json["compiler"] = program.compilerVersion;
  answer.json["options"] = program.options;
  Json models = Json::array();
  for (const format::Model &model : program.models) {
    answer.text += fmt::format("model {}: {} parameters, {} multiply-accumulates{}\n",
                               printable(model.name), model.parameters, model.macs,
                               model.steps == 1 ? "" : fmt::format(", {} steps", model.steps));
    Json entry = {{"name", model.name},
                  {"parameters", model.parameters},
                  {"macs", model.macs},
                  {"steps", model.steps}};
    entry["arrays"] = addArrays(answer, model);
    entry["inputs"] =
        addTensors(answer, model.arrays.empty() ? "input" : "made", model.inputs, model.steps);
    entry["outputs"] = addTensors(answer, "output", model.outputs, model.steps);
    models.push_back(entry);
  }
  answer.json["models"] = models;
}

/// What the program keeps between inferences, and where it is.
void addState(Answer &answer, const format::Program &program) {
  const format::ProgramState &state = program.state;
  Json list = Json::array();
  for (const format::StatePlace &place : state.places) {
    const bool sums = place.memory == format::StatePlace::Memory::Preloads;
    const char *memory = sums ? "preload" : place.first < isa::kLocalBase ? "inbox" : "local";
    answer.text += fmt::format(
        "state core {}, {} row{} {}{}\n", place.core, memory, place.rows == 1 ? "" : "s",
        place.first, place.rows == 1 ? "" : fmt::format(" to {}", place.first + place.rows - 1));
    list.push_back(
        {{"core", place.core}, {"memory", memory}, {"first", place.first}, {"rows", place.rows}});
  }
  if (!state.places.empty() && state.save.empty() && program.models.front().steps == 1)
    answer.text += "the state cannot be saved\n";
  answer.json["state"] = {{"places", list}, {"saved_at", state.save}};
}

void addMemory(Answer &answer, const format::Program &program) {
  answer.text += fmt::format("{:<10} {:<18} {:>8} {:>9} {:>8}\n", "core", "memory", "used",
                             "capacity", "share");
  for (const MemoryFill &one : memoryFills(program))
    answer.text += fmt::format(
        "{:<10} {:<18} {:>8} {:>9} {:>6.1f} %\n", one.core, one.memory, one.used, one.capacity,
        100.0 * static_cast<double>(one.used) / static_cast<double>(one.capacity));
  answer.json["memory"] = memoryJson(program);
}

void addAssembly(Answer &answer, const format::Program &program, std::optional<uint32_t> only) {
  const device::Places places(program);
  Json list = Json::array();
  for (uint32_t c = 0; c <= program.cores.size(); ++c) {
    if (only && *only != c)
      continue;
    const bool host = c == program.cores.size();
    const auto &instructions = host ? program.hostInstructions : program.cores[c].instructions;
    answer.text += host ? std::string("host port:\n") : fmt::format("core {}:\n", c);
    Json lines = Json::array();
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const std::string text = isa::disassemble(instructions[i]);
      const std::string source = device::describeSource(program, c, i);
      const std::string moves = places.movedBy(c, i);
      answer.text += fmt::format("  {:>4}  {}", i, text);
      const char *before = "   ; ";
      for (const std::string &one : {source, moves})
        if (!one.empty())
          answer.text += std::exchange(before, "; ") + printable(one);
      answer.text += '\n';
      lines.push_back({{"text", text}, {"source", source}, {"moves", moves}});
    }
    list.push_back({{"core", host ? Json("host port") : Json(c)}, {"instructions", lines}});
  }
  answer.json["asm"] = list;
}

void addMap(Answer &answer, const format::Program &program) {
  Json list = Json::array();
  for (uint32_t n = 0; n < program.nodes.size(); ++n) {
    const format::SourceNode &node = program.nodes[n];
    std::string where;
    Json places = Json::array();
    for (const format::SourceEntry &entry : program.sourceMap)
      if (std::find(entry.nodes.begin(), entry.nodes.end(), n) != entry.nodes.end()) {
        const bool host = entry.core == program.cores.size();
        where +=
            fmt::format(" {}:{}", host ? "host" : std::to_string(entry.core), entry.instruction);
        places.push_back({host ? Json("host port") : Json(entry.core), entry.instruction});
      }
    answer.text += fmt::format("node {} \"{}\" ({}):{}\n", node.index, printable(node.name),
                               printable(node.op), where.empty() ? " no instruction" : where);
    list.push_back(
        {{"index", node.index}, {"name", node.name}, {"op", node.op}, {"instructions", places}});
  }
  answer.json["map"] = list;
}

/// What is in single rows.
void addRows(Answer &answer, const format::Program &program, const std::vector<Place> &rows) {
  const device::Places places(program);
  Json list = Json::array();
  for (const Place &place : rows) {
    const std::vector<std::string> holds = places.at(place.core, place.row);
    const char *memory = place.row < isa::kLocalBase ? "inbox" : "local";
    answer.text += fmt::format(
        "core {} {} row {}: {}\n", place.core, memory, place.row,
        holds.empty() ? "nothing" : printable(fmt::format("{}", fmt::join(holds, ", then "))));
    list.push_back(
        {{"core", place.core}, {"memory", memory}, {"row", place.row}, {"holds", holds}});
  }
  answer.json["rows"] = list;
}

/// An element of a tensor that the program has in its rows.
struct Element {
  std::string tensor;
  addressing::Indices index;
};

/// Where single elements are.
void addElements(Answer &answer, const format::Program &program,
                 const std::vector<Element> &elements) {
  const device::Places places(program);
  Json list = Json::array();
  for (const Element &one : elements) {
    const std::string name =
        one.tensor + (one.index.empty() ? "" : fmt::format("[{}]", fmt::join(one.index, ", ")));
    std::vector<std::string> texts;
    Json found = Json::array();
    for (const device::Places::Spot &spot : places.of(one.tensor, one.index)) {
      const char *memory = spot.address < isa::kLocalBase ? "inbox" : "local";
      texts.push_back(
          fmt::format("core {} {} row {} lane {}", spot.core, memory, spot.address, spot.lane));
      found.push_back(
          {{"core", spot.core}, {"memory", memory}, {"row", spot.address}, {"lane", spot.lane}});
    }
    Json sent = Json::array();
    for (const device::Places::OutputSpot &spot : places.sentAs(one.tensor, one.index)) {
      texts.push_back(fmt::format("output row {} lane {}", spot.row, spot.lane));
      sent.push_back({{"row", spot.row}, {"lane", spot.lane}});
    }
    answer.text +=
        fmt::format("{}: {}\n", printable(name),
                    texts.empty() ? "in no row" : fmt::format("{}", fmt::join(texts, ", ")));
    list.push_back(
        {{"tensor", one.tensor}, {"index", one.index}, {"places", found}, {"outputs", sent}});
  }
  answer.json["elements"] = list;
}

/// A number of digits alone.
std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(value)
                                                                             : std::nullopt;
}

/// A row as the user writes it, `0:33`.
std::variant<Place, std::string> placeOf(const std::string &text, const format::Geometry &g) {
  const size_t colon = text.find(':');
  const std::string_view all = text;
  const auto core = number(all.substr(0, colon)),
             row = colon == std::string::npos ? std::nullopt : number(all.substr(colon + 1));
  if (!core || !row)
    return fmt::format("--row '{}', allowed: CORE:ROW, such as 0:33", text);
  if (*core >= g.cores)
    return fmt::format("--row '{}': core is {}, allowed: 0 to {}", text, *core, g.cores - 1);
  if (*row < isa::kLocalBase ? *row >= g.inboxRows : *row - isa::kLocalBase >= g.localRows)
    return fmt::format("--row '{}': row is {}, allowed: 0 to {} and {} to {}", text, *row,
                       g.inboxRows - 1, isa::kLocalBase, isa::kLocalBase + g.localRows - 1);
  return Place{*core, *row};
}

/// The shape of a tensor that is in rows; of a model of several steps, of the part of one.
struct RowShape {
  std::vector<int64_t> shape;
  bool ofStep = false;
};

std::optional<RowShape> shapeOf(const format::Program &program, const std::string &name) {
  for (const format::Model &model : program.models)
    for (const auto *port : {&model.inputs, &model.outputs})
      for (const format::HostTensor &tensor : *port)
        if (tensor.name == name)
          return RowShape{format::stepShape(tensor, model.steps), tensor.stepAxis.has_value()};
  for (const format::ModelTensor &tensor : program.tensors)
    if (tensor.name == name)
      return RowShape{tensor.shape, tensor.ofStep};
  return std::nullopt;
}

/// An element as the user writes it, `h[3, 5]`; a scalar has no index, `s` or `s[]`.
std::variant<Element, std::string> elementOf(const std::string &text,
                                             const format::Program &program) {
  const size_t open = text.ends_with(']') ? text.rfind('[') : std::string::npos;
  Element element{text.substr(0, open), {}};
  const std::string_view digits =
      open == std::string::npos ? "" : std::string_view(text).substr(open + 1);
  const bool scalar = digits.find_first_not_of(" ]") == std::string_view::npos;
  for (size_t at = open; !scalar && at + 1 < text.size();) {
    size_t end = std::min(text.find(',', at + 1), text.size() - 1);
    std::string one = text.substr(at + 1, end - at - 1);
    std::erase(one, ' ');
    const auto value = number(one);
    if (!value)
      return fmt::format("--element '{}', allowed: TENSOR[INDEX,...], such as h[3,5]", text);
    element.index.push_back(*value);
    at = end;
  }
  const auto shape = shapeOf(program, element.tensor);
  if (!shape)
    return fmt::format("--element '{}': no row of the program holds tensor '{}'", text,
                       element.tensor);
  bool inside = shape->shape.size() == element.index.size();
  for (size_t axis = 0; inside && axis < shape->shape.size(); ++axis)
    inside = element.index[axis] < shape->shape[axis];
  if (!inside)
    return fmt::format("--element '{}' is outside of the tensor, its shape is {}{}", text,
                       shapeText(shape->shape), shape->ofStep ? " in each step" : "");
  return element;
}

int printContents(InspectOptions options, const Common &common) {
  const Report report(common);
  if (const auto wrong = report.checkFiles({{"the program", options.file}}, {}))
    return report.fail({*wrong}, "");
  auto bytes = io::readAll(options.file, format::kMagic);
  if (const auto *wrong = std::get_if<io::Error>(&bytes))
    return report.fail(wrong->code, wrong->message);
  const std::string &text = std::get<std::string>(bytes);
  const std::span data(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  const format::ReadResult result = format::read(data);
  if (!result.program) {
    Problems problems;
    for (const format::FileProblem &one : result.problems)
      problems.push_back(problem(one.code, fmt::format("'{}': {}", options.file, one.message)));
    return report.fail(problems, "");
  }
  const format::Program &program = *result.program;
  if (options.core && *options.core >= program.cores.size())
    return report.fail("E0601", fmt::format("core is {}, allowed: 0 to {}", *options.core,
                                            program.cores.size() - 1));
  std::vector<Place> rows;
  for (const std::string &one : options.rows) {
    const auto place = placeOf(one, program.geometry);
    if (const auto *wrong = std::get_if<std::string>(&place))
      return report.fail("E0601", *wrong);
    rows.push_back(std::get<Place>(place));
  }
  std::vector<Element> elements;
  for (const std::string &one : options.elements) {
    const auto element = elementOf(one, program);
    if (const auto *wrong = std::get_if<std::string>(&element))
      return report.fail("E0601", *wrong);
    elements.push_back(std::get<Element>(element));
  }
  options.assembly |= options.core.has_value();
  if (!options.sections && !options.io && !options.memory && !options.assembly && !options.map &&
      rows.empty() && elements.empty())
    options.sections = options.io = options.memory = true;
  Answer answer;
  answer.json["schema"] = 1;
  if (options.io)
    addIo(answer, program);
  if (options.memory) {
    addMemory(answer, program);
    addState(answer, program);
  }
  if (options.sections)
    addSections(answer, data);
  if (options.assembly)
    addAssembly(answer, program, options.core);
  if (options.map)
    addMap(answer, program);
  if (!rows.empty())
    addRows(answer, program, rows);
  if (!elements.empty())
    addElements(answer, program, elements);
  report.text(answer.text);
  return report.json(answer.json) ? Ok : Usage;
}

} // namespace

void addInspect(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("inspect", "print the contents of a program file");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("file", options->file, "program file; - is standard input")->required();
  command->add_flag("--sections", options->sections, "print sections with offsets and hashes");
  command->add_flag("--io", options->io, "print models, inputs and outputs");
  command->add_flag("--memory", options->memory,
                    "print the memory use of every core, and the rows that hold the state");
  command->add_flag("--asm", options->assembly,
                    "print instructions with their source nodes and the data they move");
  command->add_option("--core", options->core, "print the instructions of this core only");
  command->add_flag("--map", options->map, "print source nodes with their instructions");
  // One each: names of tensors may look like lists.
  command
      ->add_option("--row", options->rows,
                   "print what a row holds: CORE:ROW, the row address as in instructions")
      ->allow_extra_args(false);
  command
      ->add_option("--element", options->elements,
                   "print the rows and lanes that hold an element: TENSOR[INDEX,...]")
      ->allow_extra_args(false);
  command->callback([options, &common, &exitCode] { exitCode = printContents(*options, common); });
}

} // namespace sluice::cli
