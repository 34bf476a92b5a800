#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hw/isa/isa.h"
#include "runtime/format/bytes.h"
#include "runtime/format/checks.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"

namespace sluice::format {
namespace {

using Bytes = std::span<const uint8_t>;

template <typename T> T at(Bytes bytes, size_t offset) {
  return ByteReader(bytes.subspan(offset)).number<T>();
}

FileProblem truncated(size_t found, uint64_t wanted) {
  return {"E0504",
          fmt::format("truncated: the file has {} bytes, the header says {}", found, wanted)};
}

/// Magic, versions, size, hashes and the section table.
std::optional<FileProblem> checkContainer(Bytes bytes) {
  const size_t seen = std::min(bytes.size(), kMagic.size());
  if (seen == 0 || !std::equal(kMagic.begin(), kMagic.begin() + seen, bytes.begin()))
    return FileProblem{"E0502", "not a program file: 'sluice compile' writes one from a model"};
  if (bytes.size() < kHeaderBytes)
    return FileProblem{"E0504",
                       fmt::format("truncated: the file has {} bytes, the header alone has {}",
                                   bytes.size(), kHeaderBytes)};
  const auto version = at<uint32_t>(bytes, kVersionOffset);
  if (version != kFormatVersion)
    return FileProblem{
        "E0503",
        fmt::format("format version {}, this build reads version {}: compile the model again",
                    version, kFormatVersion)};
  const auto isaVersion = at<uint32_t>(bytes, kIsaVersionOffset);
  if (isaVersion != isa::kVersion)
    return FileProblem{
        "E0503",
        fmt::format(
            "instruction set version {}, this build has version {}: compile the model again",
            isaVersion, isa::kVersion)};
  const auto fileSize = at<uint64_t>(bytes, kFileSizeOffset);
  const auto count = at<uint32_t>(bytes, kSectionCountOffset);
  const size_t tableEnd = kHeaderBytes + kSectionCount * kEntryBytes;
  if (bytes.size() < fileSize || bytes.size() < tableEnd)
    return truncated(bytes.size(), std::max<uint64_t>(fileSize, tableEnd));
  if (count != kSectionCount)
    return FileProblem{"E0507",
                       fmt::format("the file has {} sections, expected {}", count, kSectionCount)};

  std::vector<uint8_t> head(bytes.begin(), bytes.begin() + tableEnd);
  Sha256 stored;
  std::copy_n(head.begin() + kHeaderHashOffset, stored.size(), stored.begin());
  std::fill_n(head.begin() + kHeaderHashOffset, stored.size(), uint8_t{0});
  if (sha256(head) != stored)
    return FileProblem{"E0506", "damaged: the SHA-256 of the header does not match"};
  if (bytes.size() > fileSize)
    return FileProblem{"E0505",
                       fmt::format("trailing bytes: the file has {} bytes, the header says {}",
                                   bytes.size(), fileSize)};
  if (at<uint32_t>(bytes, kSectionCountOffset + 4) != 0)
    return FileProblem{"E0507", "a reserved field of the header is not zero"};

  uint64_t end = tableEnd;
  for (size_t i = 0; i < kSectionCount; ++i) {
    const Bytes entry = bytes.subspan(kHeaderBytes + i * kEntryBytes, kEntryBytes);
    const std::string_view name = kSectionNames[i];
    const auto offset = at<uint64_t>(entry, kEntryOffset);
    const auto size = at<uint64_t>(entry, kEntrySize);
    if (at<uint32_t>(entry, 0) != i + 1)
      return FileProblem{"E0507", fmt::format("section {} has kind {}, expected {} ({})", i,
                                              at<uint32_t>(entry, 0), i + 1, name)};
    if (at<uint32_t>(entry, 4) != 0 || at<uint64_t>(entry, kEntrySize + 8) != 0)
      return FileProblem{"E0507",
                         fmt::format("a reserved field of section '{}' is not zero", name)};
    const uint64_t expected = (end + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    if (offset != expected)
      return FileProblem{"E0507", fmt::format("section '{}' begins at byte {}, expected {}", name,
                                              offset, expected)};
    if (offset > fileSize || size > fileSize - offset)
      return FileProblem{
          "E0507", fmt::format("section '{}' of {} bytes at byte {} ends after the end of the file",
                               name, size, offset)};
    const Bytes gap = bytes.subspan(end, offset - end);
    if (std::any_of(gap.begin(), gap.end(), [](uint8_t byte) { return byte != 0; }))
      return FileProblem{"E0506",
                         fmt::format("damaged: padding before section '{}' is not zero", name)};
    const Sha256 hash = sha256(bytes.subspan(offset, size));
    if (!std::equal(hash.begin(), hash.end(), entry.begin() + kEntryHash))
      return FileProblem{"E0506",
                         fmt::format("damaged: the SHA-256 of section '{}' does not match", name)};
    end = offset + size;
  }
  if (end != fileSize)
    return FileProblem{"E0507",
                       fmt::format("the sections end at byte {}, the file at {}", end, fileSize)};
  return std::nullopt;
}

void readGeometry(ByteReader &in, Geometry &geometry) {
  geometry.name = in.text();
  geometry.rtl = in.text();
  for (const GeometryField &field : geometryFields())
    geometry.*field.value = in.number<uint32_t>();
  geometry.clockSource = in.text();
  // The stages that differ from their defaults, in the order of the table.
  const isa::StageInfo *next = std::begin(isa::kStages);
  while (!in.failed() && !in.atEnd()) {
    const std::string name = in.text();
    const auto value = in.number<uint32_t>();
    next = std::find_if(next, std::end(isa::kStages),
                        [&](const isa::StageInfo &stage) { return stage.name == name; });
    if (next == std::end(isa::kStages) || value == isa::Stages().*next->value)
      return in.fail();
    geometry.stages.*next++->value = value;
  }
}

/// A type outside the enumeration must not survive the narrowing.
HostType readType(ByteReader &in) {
  return static_cast<HostType>(std::min(in.number<uint32_t>(), 255U));
}

std::optional<Limits> readLimits(ByteReader &in) {
  const auto low = in.number<int64_t>(), high = in.number<int64_t>();
  return low != 0 || high != 0 ? std::optional(Limits{low, high}) : std::nullopt;
}

/// A number that is not 0 or 1 must not pass for one.
bool readFlag(ByteReader &in) {
  const auto value = in.number<uint32_t>();
  if (value > 1)
    in.fail();
  return value == 1;
}

void readTensors(ByteReader &in, std::vector<HostTensor> &tensors) {
  tensors.resize(in.count(68));
  for (HostTensor &tensor : tensors) {
    tensor.name = in.text();
    tensor.type = readType(in);
    tensor.dataDim = in.number<uint32_t>();
    tensor.firstRow = in.number<uint32_t>();
    tensor.rows = in.number<uint32_t>();
    if (const auto axis = in.number<uint32_t>(); axis != kNoAxis)
      tensor.stepAxis = axis;
    tensor.skipped = in.number<uint32_t>();
    tensor.shape = in.numbers<int64_t>(in.count(8));
    tensor.packed = in.numbers<int64_t>(in.count(8));
    tensor.limits = readLimits(in);
    tensor.array = in.number<uint32_t>();
    if (const auto elements = in.number<uint32_t>(); elements != 0) {
      Lookup &lookup = tensor.lookup.emplace();
      lookup.rowElements = elements;
      lookup.first = in.number<int64_t>();
      lookup.values = in.numbers<uint16_t>(in.count(2));
    }
    if (readFlag(in)) {
      Selection &selection = tensor.selection.emplace();
      selection.first = in.number<int64_t>();
      selection.strides = in.numbers<int64_t>(in.count(8));
    }
    if (readFlag(in)) {
      Quantisation &quantised = tensor.quantised.emplace();
      quantised.scale = std::bit_cast<float>(in.number<uint32_t>());
      quantised.zero = in.number<int32_t>();
      quantised.limits = {in.number<int64_t>(), in.number<int64_t>()};
    }
    tensor.codes = readFlag(in);
  }
}

void readArrays(ByteReader &in, std::vector<HostArray> &arrays) {
  arrays.resize(in.count(32));
  for (HostArray &array : arrays) {
    array.name = in.text();
    array.type = readType(in);
    array.limits = readLimits(in);
    array.shape = in.numbers<int64_t>(in.count(8));
    if (const auto distribution = in.number<uint32_t>(); distribution != 0) {
      random::RandomNumbers &numbers = array.random.emplace();
      numbers.distribution = static_cast<random::Distribution>(std::min(distribution, 255U));
      numbers.first = std::bit_cast<double>(in.number<uint64_t>());
      numbers.second = std::bit_cast<double>(in.number<uint64_t>());
      numbers.stream = in.number<uint64_t>();
    }
  }
}

void readModels(ByteReader &in, std::vector<Model> &models) {
  models.resize(in.count(36));
  for (Model &model : models) {
    model.name = in.text();
    model.macs = in.number<uint64_t>();
    model.parameters = in.number<uint64_t>();
    model.steps = in.number<uint32_t>();
    readArrays(in, model.arrays);
    readTensors(in, model.inputs);
    readTensors(in, model.outputs);
  }
}

void readInstructions(ByteReader &in, std::vector<InstructionWords> &instructions) {
  instructions.resize(in.count(sizeof(InstructionWords)));
  for (InstructionWords &words : instructions)
    for (uint64_t &word : words)
      word = in.number<uint64_t>();
}

void readComputedRows(ByteReader &in, Program &program) {
  program.tensors.resize(in.count(20));
  for (ModelTensor &tensor : program.tensors) {
    tensor.name = in.text();
    tensor.dataDim = in.number<uint32_t>();
    tensor.ofStep = readFlag(in);
    tensor.shape = in.numbers<int64_t>(in.count(8));
    tensor.packed = in.numbers<int64_t>(in.count(8));
  }
  program.computedRows.resize(in.count(12));
  for (ComputedRows &rows : program.computedRows) {
    rows.core = in.number<uint32_t>();
    rows.instruction = in.number<uint32_t>();
    rows.rules.resize(in.count(24));
    for (RowRule &rule : rows.rules) {
      rule.begin = in.number<uint32_t>();
      rule.tensor = in.number<uint32_t>();
      rule.partial = readFlag(in);
      rule.row = in.number<uint32_t>();
      rule.perPass = in.number<int32_t>();
      rule.terms.resize(in.count(8));
      for (RowTerm &term : rule.terms) {
        term.count = in.number<uint32_t>();
        term.step = in.number<int32_t>();
      }
    }
  }
}

void readSection(ByteReader &in, Section kind, Program &program) {
  const uint64_t lanes = program.geometry.lanes;
  switch (kind) {
  case Section::Geometry:
    readGeometry(in, program.geometry);
    break;
  case Section::Models:
    readModels(in, program.models);
    break;
  case Section::Instructions:
    program.cores.resize(in.count(4));
    for (CoreImage &core : program.cores)
      readInstructions(in, core.instructions);
    readInstructions(in, program.hostInstructions);
    break;
  case Section::Weights:
    for (CoreImage &core : program.cores) {
      core.weights.resize(in.count(4 + lanes * lanes * 2));
      for (WeightImage &image : core.weights) {
        image.block = in.number<uint32_t>();
        image.elements = in.numbers<uint16_t>(lanes * lanes);
      }
    }
    break;
  case Section::Rows:
    for (CoreImage &core : program.cores) {
      core.rows.resize(in.count(8));
      for (RowImage &image : core.rows) {
        image.address = in.number<uint32_t>();
        image.lanes = in.numbers<uint16_t>(in.count(2));
      }
    }
    break;
  case Section::Preloads:
    for (CoreImage &core : program.cores) {
      core.preloads.resize(in.count(4 + lanes * 8));
      for (PreloadImage &image : core.preloads) {
        image.row = in.number<uint32_t>();
        image.lanes = in.numbers<uint64_t>(lanes);
      }
    }
    break;
  case Section::Tables:
    for (CoreImage &core : program.cores) {
      core.tables.resize(in.count(4 + 32 + isa::kTableEntries * 2));
      for (TableImage &image : core.tables) {
        image.table = in.number<uint32_t>();
        for (uint64_t &word : image.header)
          word = in.number<uint64_t>();
        image.entries = in.numbers<uint16_t>(isa::kTableEntries);
      }
    }
    break;
  case Section::SourceMap:
    program.nodes.resize(in.count(16));
    for (SourceNode &node : program.nodes) {
      node.index = in.number<int64_t>();
      node.name = in.text();
      node.op = in.text();
    }
    program.sourceMap.resize(in.count(12));
    for (SourceEntry &entry : program.sourceMap) {
      entry.core = in.number<uint32_t>();
      entry.instruction = in.number<uint32_t>();
      entry.nodes = in.numbers<uint32_t>(in.count(4));
    }
    break;
  case Section::Info:
    program.compilerVersion = in.text();
    program.options = in.text();
    break;
  case Section::State:
    program.state.places.resize(in.count(16));
    for (StatePlace &place : program.state.places) {
      place.core = in.number<uint32_t>();
      // A memory outside the enumeration must not survive the narrowing.
      place.memory = static_cast<StatePlace::Memory>(std::min(in.number<uint32_t>(), 255U));
      place.first = in.number<uint32_t>();
      place.rows = in.number<uint32_t>();
    }
    program.state.save = in.numbers<uint32_t>(in.count(4));
    break;
  case Section::ComputedRows:
    readComputedRows(in, program);
    break;
  }
}

} // namespace

std::vector<SectionInfo> sections(std::span<const uint8_t> bytes) {
  std::vector<SectionInfo> result(kSectionCount);
  for (size_t i = 0; i < kSectionCount; ++i) {
    const Bytes entry = bytes.subspan(kHeaderBytes + i * kEntryBytes, kEntryBytes);
    result[i].kind = static_cast<Section>(i + 1);
    result[i].offset = at<uint64_t>(entry, kEntryOffset);
    result[i].size = at<uint64_t>(entry, kEntrySize);
    std::copy_n(entry.begin() + kEntryHash, result[i].hash.size(), result[i].hash.begin());
  }
  return result;
}

ReadResult read(std::span<const uint8_t> bytes) {
  ReadResult result;
  if (auto problem = checkContainer(bytes)) {
    result.problems.push_back(*problem);
    return result;
  }
  Program program;
  for (const SectionInfo &info : sections(bytes)) {
    ByteReader in(bytes.subspan(info.offset, info.size));
    readSection(in, info.kind, program);
    const std::string_view name = kSectionNames[static_cast<size_t>(info.kind) - 1];
    if (in.failed() || !in.atEnd()) {
      result.problems.push_back(
          {"E0507",
           fmt::format("section '{}' {}", name,
                       in.failed() ? "ends inside an entry, or one of its counts is too large"
                                   : "has bytes after its last entry")});
      return result;
    }
    // The sizes of all that follows are multiples of the lanes.
    if (info.kind == Section::Geometry)
      if (auto problem = checkGeometry(program.geometry)) {
        result.problems.push_back({"E0508", *problem});
        return result;
      }
    if (info.kind == Section::Instructions && program.cores.size() != program.geometry.cores) {
      result.problems.push_back(
          {"E0507",
           fmt::format("the program has instructions for {} cores, the geometry has {} cores",
                       program.cores.size(), program.geometry.cores)});
      return result;
    }
  }
  std::copy_n(bytes.begin() + kHeaderHashOffset, result.identity.size(), result.identity.begin());
  result.problems = check(program);
  if (result.problems.empty())
    result.program = std::move(program);
  return result;
}

namespace {

FileProblem cannotRead(const std::string &name, const char *reason) {
  return {"E0501", fmt::format("cannot read {}: {}", name, reason)};
}

} // namespace

std::optional<FileProblem> readBytes(const std::string &path, std::vector<uint8_t> &bytes,
                                     std::span<const uint8_t> magic) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return cannotRead(fmt::format("'{}'", path), std::strerror(errno));
  auto problem = readStream(descriptor, fmt::format("'{}'", path), bytes, magic);
  close(descriptor);
  return problem;
}

std::optional<FileProblem> readStream(int descriptor, const std::string &name,
                                      std::vector<uint8_t> &bytes, std::span<const uint8_t> magic) {
  std::optional<FileProblem> problem;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    problem = cannotRead(name, "it is a directory");
  bytes.clear();
  std::vector<uint8_t> chunk(size_t{1} << 20);
  const auto begins = [&] {
    const size_t seen = std::min(bytes.size(), magic.size());
    return std::equal(magic.begin(), magic.begin() + seen, bytes.begin());
  };
  while (!problem && begins()) {
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count == 0)
      break;
    if (count > 0)
      bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + count);
    else if (errno != EINTR)
      problem = cannotRead(name, std::strerror(errno));
  }
  return problem;
}

bool isProgramFile(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return false;
  std::array<char, kMagic.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) &&
         std::memcmp(begin.data(), kMagic.data(), kMagic.size()) == 0;
}

ReadResult readFile(const std::string &path) {
  std::vector<uint8_t> bytes;
  if (auto problem = readBytes(path, bytes, kMagic))
    return {std::nullopt, {*problem}};
  ReadResult result = read(bytes);
  for (FileProblem &problem : result.problems)
    problem.message = fmt::format("'{}': {}", path, problem.message);
  return result;
}

} // namespace sluice::format
