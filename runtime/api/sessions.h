// What the functions of the C API that talk to a session have in common.
#pragma once

#include <memory>
#include <string>

#include "runtime/api/handles.h"

namespace sluice::runtime {

/// Whether a session can be asked: there is one, and this process has its thread. Remembers why not
/// in the second case.
bool isUsable(const Session *session);

/// The session of a device, or null (and an error) if nothing is loaded.
std::shared_ptr<Session> sessionOf(const sluice_rt_device *device);

/// The status that a state is; `error` is the message of one that is neither Pending nor Done.
sluice_rt_status endStatus(JobState state, const std::string &error);

} // namespace sluice::runtime
