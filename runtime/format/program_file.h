// Program files: write, read, and check. Nothing here knows the compiler, and
// nothing in a file is believed before it is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/format/file_problem.h"
#include "runtime/format/layout.h"
#include "runtime/format/program.h"
#include "runtime/format/sha256.h"

namespace sluice::format {

/// Either a program that passed every check, or what is wrong with it.
struct ReadResult {
  std::optional<Program> program;
  std::vector<FileProblem> problems;
  Sha256 identity{}; ///< of a program: the hash of the file's header, which stands for all of it
};

/// Where a section lies in the file, for `sluice inspect --sections`.
struct SectionInfo {
  Section kind;
  uint64_t offset = 0;
  uint64_t size = 0;
  Sha256 hash{};
};

/// The bytes of a program file; equal programs give equal bytes. The program is
/// not checked: what the compiler gets wrong, the reader reports.
std::vector<uint8_t> write(const Program &program);

/// Writes a whole file or none: into a temporary file beside `path`, which is
/// then renamed. `path` keeps its old content on failure. A link stays one; into
/// a device or a pipe the bytes are written as they are.
std::optional<FileProblem> writeAtomically(const std::string &path, std::span<const uint8_t> bytes);

/// Whether writeAtomically could begin, for a refusal before long work. Leaves nothing behind.
std::optional<FileProblem> checkWritable(const std::string &path);

/// Reads and checks everything. Memory used is bounded by a small multiple of
/// the number of bytes, whatever they say.
ReadResult read(std::span<const uint8_t> bytes);

/// Reads a file ("-" is not special here); E0501 if it cannot be read.
ReadResult readFile(const std::string &path);

/// Whether a regular file begins like a program file; nothing else is read.
bool isProgramFile(const std::string &path);

/// The bytes of a regular file or stream, or the reason why not (E0501). Only the
/// first of them if they do not begin with `magic`.
std::optional<FileProblem> readBytes(const std::string &path, std::vector<uint8_t> &bytes,
                                     std::span<const uint8_t> magic = {});

/// The same of a stream that is open; `name` is for the message.
std::optional<FileProblem> readStream(int descriptor, const std::string &name,
                                      std::vector<uint8_t> &bytes,
                                      std::span<const uint8_t> magic = {});

/// The section table of a file that `read` accepts.
std::vector<SectionInfo> sections(std::span<const uint8_t> bytes);

/// What a program needs of the memories of one core: weight blocks, and rows up to the
/// last, that instructions read or write, packets arrive in, or that have a value when
/// the machine starts.
struct MemoryReach {
  uint64_t weightBlocks = 0;
  uint64_t inboxRows = 0;
  uint64_t localRows = 0;
};

/// By core; the program has passed the checks.
std::vector<MemoryReach> memoryReach(const Program &program);

/// The checks behind the layout: geometry, instructions and every address they
/// reach, memory images, host tensors, source map. At most `limit` problems.
std::vector<FileProblem> check(const Program &program, size_t limit = 20);

} // namespace sluice::format
