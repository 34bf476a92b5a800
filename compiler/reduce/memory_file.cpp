#include "compiler/reduce/memory_file.h"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace sluice::reduce {

MemoryFile::MemoryFile(const std::string &content) : file(memfd_create("model", MFD_CLOEXEC)) {
  if (file < 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a file in memory");
  for (size_t done = 0; done < content.size();) {
    const ssize_t count = write(file, content.data() + done, content.size() - done);
    if (count < 0 && errno != EINTR) {
      const int error = errno;
      close(file);
      throw std::system_error(error, std::generic_category(), "cannot write a file in memory");
    }
    done += count < 0 ? 0 : static_cast<size_t>(count);
  }
}

MemoryFile::~MemoryFile() { close(file); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(file); }

} // namespace sluice::reduce
