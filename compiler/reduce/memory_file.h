// A file in memory.
#pragma once

#include <string>

namespace sluice::reduce {

class MemoryFile {
public:
  /// Throws std::system_error if there can be none.
  explicit MemoryFile(const std::string &content);
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  /// A path that only this process can open.
  [[nodiscard]] std::string path() const;

private:
  int file;
};

} // namespace sluice::reduce
