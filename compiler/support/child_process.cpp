#include "compiler/support/child_process.h"

#include <cerrno>
#include <csignal>
#include <initializer_list>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

std::chrono::milliseconds left(Clock::time_point until) {
  return std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
}

/// Writes all of a text. False on an error.
bool writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return false;
    done += count < 0 ? 0 : static_cast<size_t>(count);
  }
  return true;
}

/// The child: does the work and ends without any clean-up of the parent's.
[[noreturn]] void runAndExit(const std::function<std::string()> &work, int output,
                             Clock::time_point until) {
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGALRM})
    std::signal(signal, SIG_DFL);
  // A parent that is killed cannot end its child.
  alarm(static_cast<unsigned>(left(until).count() / 1000) + 2);
  if (const int null = open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      dup2(null, stream);
  try {
    _exit(writeAll(output, work()) ? 0 : 1);
  } catch (...) { // out of memory, for example
    _exit(1);
  }
}

bool isSet(const std::atomic<bool> *flag) { return flag != nullptr && flag->load(); }

/// Reads up to the end of a file. False if it does not end in time, or before `stop` is set.
bool readAll(int file, std::string &text, Clock::time_point until, const std::atomic<bool> *stop) {
  for (;;) {
    const auto wait = left(until);
    if (wait.count() <= 0 || isSet(stop))
      return false;
    pollfd ready{file, POLLIN, 0};
    const int found = poll(&ready, 1, static_cast<int>(wait.count()));
    if (found == 0 || (found < 0 && errno == EINTR))
      continue;
    char buffer[1 << 14];
    const ssize_t count = found < 0 ? -1 : read(file, buffer, sizeof buffer);
    if (count == 0)
      return true;
    if (count < 0 && errno != EINTR)
      return false;
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
  }
}

} // namespace

ChildResult tryInChild(const std::function<std::string()> &work, Clock::time_point until,
                       const std::atomic<bool> *stop) {
  int ends[2];
  if (left(until).count() <= 0)
    return {.ending = Ending::Late, .text = {}};
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  const pid_t child = fork();
  if (child == 0)
    runAndExit(work, ends[1], until);
  close(ends[1]);
  ChildResult result;
  const bool ended = child > 0 && readAll(ends[0], result.text, until, stop);
  close(ends[0]);
  if (child < 0)
    return {};
  if (!ended)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (isSet(stop)) {
    result.ending = Ending::Stopped;
  } else if (!ended) {
    result.ending = Ending::Late;
  } else if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.ending = result.signal == SIGALRM ? Ending::Late : Ending::Killed;
  } else if (WEXITSTATUS(status) == 0) {
    result.ending = Ending::Returned;
    return result;
  }
  result.text.clear();
  return result;
}

std::optional<std::string> runInChild(const std::function<std::string()> &work,
                                      Clock::time_point until) {
  ChildResult result = tryInChild(work, until);
  return result.ending == Ending::Returned ? std::optional(std::move(result.text)) : std::nullopt;
}

} // namespace sluice
