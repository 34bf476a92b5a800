#include "runtime/api/sessions.h"

#include "runtime/api/error.h"

namespace sluice::runtime {

bool isUsable(const Session *session) {
  if (!session || !session->isForeign())
    return session != nullptr;
  invalid("the device was opened before the process forked; open one in the new process");
  return false;
}

std::shared_ptr<Session> sessionOf(const sluice_rt_device *device) {
  if (!device) {
    invalid("null device");
    return nullptr;
  }
  const std::lock_guard lock(device->mutex);
  if (!device->session)
    invalid("the device has no program loaded");
  return isUsable(device->session.get()) ? device->session : nullptr;
}

sluice_rt_status endStatus(JobState state, const std::string &error) {
  switch (state) {
  case JobState::Pending:
    return SLUICE_RT_PENDING;
  case JobState::Done:
    return SLUICE_RT_OK;
  case JobState::Stalled:
    return fail(SLUICE_RT_STALLED, "E0607", error);
  case JobState::Fault:
    return fail(SLUICE_RT_FAULT, "E0608", error);
  case JobState::Cancelled:
    return fail(SLUICE_RT_CANCELLED, "E0609", error);
  case JobState::Internal:
    break;
  }
  return fail(SLUICE_RT_INTERNAL, "E0611", error);
}

} // namespace sluice::runtime
