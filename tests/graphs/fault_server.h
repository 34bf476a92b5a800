// Makes the driver that plant_faults.py builds a server, so that no command loads a process of its
// own.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/driver.h"

/// The command that this child runs: the number of a fault, the file of places that it reaches or
/// -, the file of its messages, and words of the command line.
static std::vector<std::string> command;

/// Returns whether a fault is the one of the command. Notes that the place was reached.
extern "C" bool planted(int fault) {
  static const int active = command.empty() ? 0 : std::stoi(command[0]);
  static bool seen[1 << 16];
  if (!command.empty() && command[1] != "-" && !seen[fault])
    std::ofstream(command[1], std::ios::app) << fault << "\n";
  seen[fault] = true;
  return fault == active;
}

/// Runs each line of the input in a child, and answers with its exit code, or -1 if it died.
static int serve() {
  for (std::string line; std::getline(std::cin, line);) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit seconds{30, 30};
      setrlimit(RLIMIT_CPU, &seconds);
      std::istringstream text(line);
      command.assign(std::istream_iterator<std::string>(text), {});
      if (!freopen("/dev/null", "w", stdout) || !freopen(command[2].c_str(), "w", stderr))
        return 1;
      std::vector<char *> arguments;
      for (size_t i = 2; i < command.size(); ++i)
        arguments.push_back(command[i].data());
      std::exit(sluice::cli::runDriver(static_cast<int>(arguments.size()), arguments.data()));
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : -1) << std::endl;
  }
  return 0;
}
