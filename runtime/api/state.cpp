// The state of a loaded program: saved and restored.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/api/error.h"
#include "runtime/api/handles.h"
#include "runtime/api/sessions.h"
#include "runtime/api/state_file.h"

using namespace sluice;
using namespace sluice::runtime;

namespace {

/// A device whose program has a state, and a buffer for it.
struct Ready {
  std::shared_ptr<Session> session; ///< null: refused
  format::Sha256 identity{};
  sluice_rt_status status = SLUICE_RT_INVALID_ARGUMENT;
};

Ready ready(const sluice_rt_device *device, const void *buffer, size_t size) {
  Ready result;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return result;
  if (!buffer) {
    result.status = invalid("null argument");
    return result;
  }
  const size_t expected = stateFileSize(session->program());
  if (expected == 0) {
    result.status = fail(SLUICE_RT_UNAVAILABLE, "E0617", "the program keeps no state");
    return result;
  }
  if (size != expected) {
    result.status =
        invalid(fmt::format("the state has {} bytes, the program needs {}", size, expected));
    return result;
  }
  const std::lock_guard lock(device->mutex);
  result.identity = device->identity;
  result.session = device->session == session ? session : nullptr;
  if (!result.session)
    result.status = invalid("another program was loaded during the call");
  return result;
}

sluice_rt_status statusOf(const StateResult &result, std::string_view what) {
  if (result.pending != 0)
    return invalid(fmt::format("{} job{} pending, allowed: 0 when a state is {}", result.pending,
                               result.pending == 1 ? " is" : "s are", what));
  return endStatus(result.state, result.error);
}

} // namespace

sluice_rt_status sluice_rt_program_state_size(const sluice_rt_program *program, size_t *size) {
  if (!program || !size)
    return invalid("null argument");
  *size = stateFileSize(*program->program);
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_device_save_state(sluice_rt_device *device, void *buffer, size_t size) {
  return guarded([&] {
    const Ready now = ready(device, buffer, size);
    if (!now.session)
      return now.status;
    if (now.session->program().state.save.empty())
      return fail(SLUICE_RT_UNAVAILABLE, "E0617",
                  "the program has no instructions to save its state; see sluice explain E0617");
    std::vector<uint16_t> image;
    const sluice_rt_status status = statusOf(now.session->save(image), "saved");
    if (status == SLUICE_RT_OK)
      std::ranges::copy(packState(now.identity, image), static_cast<uint8_t *>(buffer));
    return status;
  });
}

sluice_rt_status sluice_rt_device_restore_state(sluice_rt_device *device, const void *buffer,
                                                size_t size) {
  return guarded([&] {
    const Ready now = ready(device, buffer, size);
    if (!now.session)
      return now.status;
    std::vector<uint16_t> image;
    if (const auto wrong = unpackState(now.session->program(), now.identity,
                                       {static_cast<const uint8_t *>(buffer), size}, image))
      return fail(SLUICE_RT_BAD_STATE, "E0616",
                  fmt::format("the state cannot be used: {}", *wrong));
    return statusOf(now.session->restore(image), "restored");
  });
}
