#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "hw/isa/isa.h"
#include "runtime/format/bytes.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"

namespace sluice::format {
namespace {

void writeGeometry(ByteWriter &out, const Geometry &geometry) {
  out.text(geometry.name);
  out.text(geometry.rtl);
  for (const GeometryField &field : geometryFields())
    out.number(geometry.*field.value);
  out.text(geometry.clockSource);
  for (const isa::StageInfo &stage : isa::kStages)
    if (geometry.stages.*stage.value != isa::Stages().*stage.value) {
      out.text(stage.name);
      out.number(geometry.stages.*stage.value);
    }
}

void writeExtents(ByteWriter &out, const std::vector<int64_t> &extents) {
  out.number(static_cast<uint32_t>(extents.size()));
  out.numbers(extents);
}

void writeLimits(ByteWriter &out, const std::optional<Limits> &limits) {
  out.number(limits ? limits->low : 0);
  out.number(limits ? limits->high : 0);
}

void writeTensors(ByteWriter &out, const std::vector<HostTensor> &tensors) {
  out.number(static_cast<uint32_t>(tensors.size()));
  for (const HostTensor &tensor : tensors) {
    out.text(tensor.name);
    out.number(static_cast<uint32_t>(tensor.type));
    out.number(tensor.dataDim);
    out.number(tensor.firstRow);
    out.number(tensor.rows);
    out.number(tensor.stepAxis.value_or(kNoAxis));
    out.number(tensor.skipped);
    writeExtents(out, tensor.shape);
    writeExtents(out, tensor.packed);
    writeLimits(out, tensor.limits);
    out.number(tensor.array);
    out.number(tensor.lookup ? tensor.lookup->rowElements : 0);
    if (tensor.lookup) {
      out.number(tensor.lookup->first);
      out.number(static_cast<uint32_t>(tensor.lookup->values.size()));
      out.numbers(tensor.lookup->values);
    }
    out.number(uint32_t{tensor.selection.has_value()});
    if (const auto &selection = tensor.selection) {
      out.number(selection->first);
      writeExtents(out, selection->strides);
    }
    out.number(uint32_t{tensor.quantised.has_value()});
    if (const auto &quantised = tensor.quantised) {
      out.number(std::bit_cast<uint32_t>(quantised->scale));
      out.number(quantised->zero);
      out.number(quantised->limits.low);
      out.number(quantised->limits.high);
    }
    out.number(uint32_t{tensor.codes});
  }
}

void writeArrays(ByteWriter &out, const std::vector<HostArray> &arrays) {
  out.number(static_cast<uint32_t>(arrays.size()));
  for (const HostArray &array : arrays) {
    out.text(array.name);
    out.number(static_cast<uint32_t>(array.type));
    writeLimits(out, array.limits);
    writeExtents(out, array.shape);
    out.number(array.random ? static_cast<uint32_t>(array.random->distribution) : 0);
    if (const auto &numbers = array.random) {
      out.number(std::bit_cast<uint64_t>(numbers->first));
      out.number(std::bit_cast<uint64_t>(numbers->second));
      out.number(numbers->stream);
    }
  }
}

void writeModels(ByteWriter &out, const std::vector<Model> &models) {
  out.number(static_cast<uint32_t>(models.size()));
  for (const Model &model : models) {
    out.text(model.name);
    out.number(model.macs);
    out.number(model.parameters);
    out.number(model.steps);
    writeArrays(out, model.arrays);
    writeTensors(out, model.inputs);
    writeTensors(out, model.outputs);
  }
}

void writeInstructions(ByteWriter &out, const std::vector<InstructionWords> &instructions) {
  out.number(static_cast<uint32_t>(instructions.size()));
  for (const InstructionWords &words : instructions)
    out.numbers(words);
}

/// Writes one list per core with `item` per element.
template <typename Item, typename Write>
void writeImages(ByteWriter &out, const Program &program, std::vector<Item> CoreImage::*list,
                 Write item) {
  for (const CoreImage &core : program.cores) {
    out.number(static_cast<uint32_t>((core.*list).size()));
    for (const Item &one : core.*list)
      item(one);
  }
}

void writeComputedRows(ByteWriter &out, const Program &program) {
  out.number(static_cast<uint32_t>(program.tensors.size()));
  for (const ModelTensor &tensor : program.tensors) {
    out.text(tensor.name);
    out.number(tensor.dataDim);
    out.number(uint32_t{tensor.ofStep});
    writeExtents(out, tensor.shape);
    writeExtents(out, tensor.packed);
  }
  out.number(static_cast<uint32_t>(program.computedRows.size()));
  for (const ComputedRows &rows : program.computedRows) {
    out.number(rows.core);
    out.number(rows.instruction);
    out.number(static_cast<uint32_t>(rows.rules.size()));
    for (const RowRule &rule : rows.rules) {
      for (const uint32_t value : {rule.begin, rule.tensor, uint32_t{rule.partial}, rule.row})
        out.number(value);
      out.number(rule.perPass);
      out.number(static_cast<uint32_t>(rule.terms.size()));
      for (const RowTerm &term : rule.terms) {
        out.number(term.count);
        out.number(term.step);
      }
    }
  }
}

std::vector<uint8_t> section(const Program &program, Section kind) {
  ByteWriter out;
  switch (kind) {
  case Section::Geometry:
    writeGeometry(out, program.geometry);
    break;
  case Section::Models:
    writeModels(out, program.models);
    break;
  case Section::Instructions:
    out.number(static_cast<uint32_t>(program.cores.size()));
    for (const CoreImage &core : program.cores)
      writeInstructions(out, core.instructions);
    writeInstructions(out, program.hostInstructions);
    break;
  case Section::Weights:
    writeImages(out, program, &CoreImage::weights, [&](const WeightImage &image) {
      out.number(image.block);
      out.numbers(image.elements);
    });
    break;
  case Section::Rows:
    writeImages(out, program, &CoreImage::rows, [&](const RowImage &image) {
      out.number(image.address);
      out.number(static_cast<uint32_t>(image.lanes.size()));
      out.numbers(image.lanes);
    });
    break;
  case Section::Preloads:
    writeImages(out, program, &CoreImage::preloads, [&](const PreloadImage &image) {
      out.number(image.row);
      out.numbers(image.lanes);
    });
    break;
  case Section::Tables:
    writeImages(out, program, &CoreImage::tables, [&](const TableImage &image) {
      out.number(image.table);
      out.numbers(image.header);
      out.numbers(image.entries);
    });
    break;
  case Section::SourceMap:
    out.number(static_cast<uint32_t>(program.nodes.size()));
    for (const SourceNode &node : program.nodes) {
      out.number(node.index);
      out.text(node.name);
      out.text(node.op);
    }
    out.number(static_cast<uint32_t>(program.sourceMap.size()));
    for (const SourceEntry &entry : program.sourceMap) {
      out.number(entry.core);
      out.number(entry.instruction);
      out.number(static_cast<uint32_t>(entry.nodes.size()));
      out.numbers(entry.nodes);
    }
    break;
  case Section::Info:
    out.text(program.compilerVersion);
    out.text(program.options);
    break;
  case Section::State:
    out.number(static_cast<uint32_t>(program.state.places.size()));
    for (const StatePlace &place : program.state.places) {
      out.number(place.core);
      out.number(static_cast<uint32_t>(place.memory));
      out.number(place.first);
      out.number(place.rows);
    }
    out.number(static_cast<uint32_t>(program.state.save.size()));
    out.numbers(program.state.save);
    break;
  case Section::ComputedRows:
    writeComputedRows(out, program);
    break;
  }
  return std::move(out.bytes);
}

size_t aligned(size_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

FileProblem cannotWrite(const std::string &path, int error) {
  return {"E0516", fmt::format("cannot write '{}': {}", path, std::strerror(error))};
}

namespace fs = std::filesystem;

/// Whether `path` is a device, a pipe or the like: written to as it is, never replaced.
bool isSpecial(const std::string &path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// The file behind a link, which stays one; there need not be a file yet.
std::string target(const std::string &path) {
  constexpr int kMostLinks = 40; // as the kernel has it
  std::error_code ignored;
  fs::path file = path;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, ignored); ++i)
    file = file.parent_path() / fs::read_symlink(file, ignored);
  return file.string();
}

/// 0, or the errno of the write that failed.
int writeAll(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0)
      bytes = bytes.subspan(static_cast<size_t>(count));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

/// A new file beside `path`, open for writing; negative if there cannot be one (errno).
int openTemporary(const std::string &path, std::string &name) {
  // A name of our own, so that the file gets the permissions of the user's mask.
  static std::atomic<unsigned> serial{0};
  name = fmt::format("{}.tmp-{}-{}", path, getpid(), serial++);
  return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// A temporary file beside its path. It is renamed when it is complete, and removed otherwise.
class PendingFile {
public:
  explicit PendingFile(const std::string &path)
      : name(path), special(isSpecial(path)), file(target(path)) {}
  PendingFile(PendingFile &&other) noexcept
      : name(std::move(other.name)), special(other.special), file(std::move(other.file)),
        temporary(std::exchange(other.temporary, {})) {}
  PendingFile &operator=(PendingFile &&) = delete;
  ~PendingFile() {
    if (!temporary.empty())
      unlink(temporary.c_str());
  }

  [[nodiscard]] const std::string &path() const { return name; }

  /// Returns 0, or the errno of what failed. Devices and pipes are written at once.
  int write(std::span<const uint8_t> bytes) {
    std::string opened;
    const int descriptor =
        special ? open(name.c_str(), O_WRONLY | O_CLOEXEC) : openTemporary(file, opened);
    if (descriptor < 0)
      return errno;
    temporary = opened;
    struct stat old{};
    if (!special && stat(file.c_str(), &old) == 0)
      (void)fchmod(descriptor, old.st_mode & 07777); // a file that is replaced keeps its mode
    int error = writeAll(descriptor, bytes);
    if (error == 0 && !special && fsync(descriptor) != 0 && errno != EINVAL)
      error = errno;
    if (close(descriptor) != 0 && error == 0)
      error = errno;
    return error;
  }

  /// Replaces the file; 0, or the errno.
  int commit() {
    if (special)
      return 0;
    if (std::rename(temporary.c_str(), file.c_str()) != 0)
      return errno;
    temporary.clear();
    return 0;
  }

private:
  std::string name;
  bool special;
  std::string file, temporary;
};

} // namespace

std::vector<uint8_t> write(const Program &program) {
  ByteWriter table;
  std::vector<uint8_t> body;
  const size_t bodyStart = kHeaderBytes + kSectionCount * kEntryBytes;
  for (uint32_t kind = 1; kind <= kSectionCount; ++kind) {
    const std::vector<uint8_t> bytes = section(program, static_cast<Section>(kind));
    body.resize(aligned(body.size()));
    table.number(kind);
    table.number(uint32_t{0});
    table.number(static_cast<uint64_t>(bodyStart + body.size()));
    table.number(static_cast<uint64_t>(bytes.size()));
    table.number(uint64_t{0});
    table.numbers(sha256(bytes));
    body.insert(body.end(), bytes.begin(), bytes.end());
  }

  ByteWriter file;
  file.numbers(kMagic);
  file.number(kFormatVersion);
  file.number(uint32_t{isa::kVersion});
  file.number(static_cast<uint64_t>(bodyStart + body.size()));
  file.number(static_cast<uint32_t>(kSectionCount));
  file.number(uint32_t{0});
  file.numbers(Sha256{});
  file.numbers(table.bytes);
  const Sha256 hash = sha256(file.bytes);
  std::copy(hash.begin(), hash.end(), file.bytes.begin() + kHeaderHashOffset);
  file.bytes.insert(file.bytes.end(), body.begin(), body.end());
  return std::move(file.bytes);
}

std::optional<FileProblem> writeAtomically(const std::string &path,
                                           std::span<const uint8_t> bytes) {
  const NewFile file{path, bytes};
  return writeAtomically({&file, 1});
}

std::optional<FileProblem> writeAtomically(std::span<const NewFile> files) {
  std::vector<PendingFile> pending;
  for (const NewFile &file : files)
    if (const int error = pending.emplace_back(file.path).write(file.bytes))
      return cannotWrite(file.path, error);
  for (PendingFile &file : pending)
    if (const int error = file.commit())
      return cannotWrite(file.path(), error);
  return std::nullopt;
}

std::optional<FileProblem> checkWritable(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return cannotWrite(path, EISDIR);
  if (isSpecial(path))
    return access(path.c_str(), W_OK) == 0 ? std::nullopt : std::optional(cannotWrite(path, errno));
  std::string temporary;
  const int descriptor = openTemporary(target(path), temporary);
  if (descriptor < 0)
    return cannotWrite(path, errno);
  close(descriptor);
  unlink(temporary.c_str());
  return std::nullopt;
}

} // namespace sluice::format
