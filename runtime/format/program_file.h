// Writing, reading and checking program files. The code does not depend on the compiler and trusts
// no byte of a file before it is checked.
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

/// A program that passed every check, or the problems of the file.
struct ReadResult {
  std::optional<Program> program;
  std::vector<FileProblem> problems;
  Sha256 identity{}; ///< the hash in the header of the file, which covers all of it
};

/// The place of a section in the file, in bytes.
struct SectionInfo {
  Section kind;
  uint64_t offset = 0;
  uint64_t size = 0;
  Sha256 hash{};
};

/// Returns the bytes of a program file. Equal programs give equal bytes. `write` does not check the
/// program; `read` does.
std::vector<uint8_t> write(const Program &program);

/// Writes a file completely or not at all: writes a temporary file beside `path` and renames it. On
/// failure, `path` keeps its content. If `path` is a link, the link stays. Devices and pipes are
/// written directly.
std::optional<FileProblem> writeAtomically(const std::string &path, std::span<const uint8_t> bytes);

/// A file, and the bytes to write.
struct NewFile {
  std::string path;
  std::span<const uint8_t> bytes;
};

/// The same of several files: none is replaced before all temporary files are complete.
std::optional<FileProblem> writeAtomically(std::span<const NewFile> files);

/// Checks whether writeAtomically can begin, so that a long computation need not fail at its end.
/// Returns the problem if it cannot. Leaves no file behind.
std::optional<FileProblem> checkWritable(const std::string &path);

/// Reads and checks a program. The memory in use is at most a small multiple of the number of
/// bytes, whatever their content.
ReadResult read(std::span<const uint8_t> bytes);

/// Reads and checks a file. Returns E0501 if it cannot be read. "-" has no special meaning.
ReadResult readFile(const std::string &path);

/// Whether `path` is a regular file that begins like a program file. Other files are not opened.
bool isProgramFile(const std::string &path);

/// Reads the bytes of a regular file or stream. Returns E0501 if it cannot be read. Reads only the
/// first bytes if they differ from `magic`.
std::optional<FileProblem> readBytes(const std::string &path, std::vector<uint8_t> &bytes,
                                     std::span<const uint8_t> magic = {});

/// Reads the bytes of an open stream in the same way. `name` is its name in messages.
std::optional<FileProblem> readStream(int descriptor, const std::string &name,
                                      std::vector<uint8_t> &bytes,
                                      std::span<const uint8_t> magic = {});

/// Returns the section table of a file that `read` accepts.
std::vector<SectionInfo> sections(std::span<const uint8_t> bytes);

/// The part of the memories of one core that a program uses: weight blocks, and rows up to the last
/// one. A row is used if an instruction reads or writes it, a packet arrives in it, or it has an
/// initial value.
struct MemoryReach {
  uint64_t weightBlocks = 0;
  uint64_t inboxRows = 0;
  uint64_t localRows = 0;
};

/// Returns the used memory of each core. The program has passed the checks.
std::vector<MemoryReach> memoryReach(const Program &program);

/// Checks the contents of a program: geometry, instructions and every address that they reach,
/// memory images, host tensors and source map. Returns at most `limit` problems.
std::vector<FileProblem> check(const Program &program, size_t limit = 20);

} // namespace sluice::format
