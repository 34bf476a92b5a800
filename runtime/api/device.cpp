// Devices and jobs.
#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "runtime/api/error.h"
#include "runtime/api/handles.h"
#include "runtime/api/packing.h"

using namespace sluice;
using namespace sluice::runtime;

namespace {

using Engine = sluice_rt_device::Engine;

std::unique_ptr<device::Device> makeEngine(Engine engine, const format::Geometry &geometry,
                                           bool waves) {
#ifdef SLUICE_HAVE_VM
  if (engine == Engine::Vm)
    return device::makeVm();
#endif
#ifdef SLUICE_HAVE_RTL
  if (engine == Engine::Rtl)
    return device::makeRtl(geometry, waves);
#endif
  return nullptr;
}

/// The session of a device, or null (and an error) if nothing is loaded.
std::shared_ptr<Session> sessionOf(sluice_rt_device *device) {
  if (!device) {
    invalid("null device");
    return nullptr;
  }
  const std::lock_guard lock(device->mutex);
  if (!device->session)
    invalid("the device has no program loaded");
  return device->session;
}

sluice_rt_status endStatus(JobState state, const Job &job) {
  switch (state) {
  case JobState::Pending:
    return SLUICE_RT_PENDING;
  case JobState::Done:
    return SLUICE_RT_OK;
  case JobState::Stalled:
    return fail(SLUICE_RT_STALLED, "E0607", job.error);
  case JobState::Fault:
    return fail(SLUICE_RT_FAULT, "E0608", job.error);
  case JobState::Cancelled:
    return fail(SLUICE_RT_CANCELLED, "E0609", job.error);
  case JobState::Internal:
    break;
  }
  return fail(SLUICE_RT_INTERNAL, "E0611", job.error);
}

/// What is wrong with the arrays of one direction, or "".
std::string checkArrays(const std::vector<format::HostTensor> &tensors,
                        const sluice_rt_array *arrays, uint32_t count, std::string_view direction) {
  if (count != tensors.size())
    return fmt::format("{} {}s, the model has {}", count, direction, tensors.size());
  if (count != 0 && !arrays)
    return fmt::format("no {} arrays", direction);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t element = sluice_rt_type_size(arrays[i].type);
    if (element == 0)
      return fmt::format("{} '{}' has type {}, allowed: 1 to 4", direction, tensors[i].name,
                         static_cast<int>(arrays[i].type));
    const uint64_t bytes = elementCount(tensors[i]) * element;
    if (!arrays[i].data || arrays[i].bytes != bytes)
      return fmt::format("{} '{}' has {} bytes, expected {}", direction, tensors[i].name,
                         arrays[i].data ? arrays[i].bytes : 0, bytes);
  }
  return "";
}

/// The rows of all inputs in the order in which the machine takes them.
std::vector<uint16_t> packInputs(const format::Model &model, uint32_t lanes,
                                 const sluice_rt_array *inputs) {
  std::vector<size_t> order(model.inputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return model.inputs[a].firstRow < model.inputs[b].firstRow;
  });
  size_t rows = 0;
  for (const format::HostTensor &tensor : model.inputs)
    rows += tensor.rows;
  std::vector<uint16_t> all(rows * lanes);
  size_t offset = 0;
  for (size_t index : order) {
    const format::HostTensor &tensor = model.inputs[index];
    const size_t size = size_t{tensor.rows} * lanes;
    pack(tensor, lanes, inputs[index].data, static_cast<format::HostType>(inputs[index].type),
         std::span(all).subspan(offset, size));
    offset += size;
  }
  return all;
}

} // namespace

sluice_rt_status sluice_rt_device_open(const char *name, sluice_rt_device **device) {
  if (!name || !device)
    return invalid("null argument");
  *device = nullptr;
  const std::string_view text = name;
  if (text != "vm" && text != "rtl")
    return invalid(fmt::format("unknown engine '{}', allowed: vm, rtl", text));
  return guarded([&] {
    *device = new sluice_rt_device(text == "vm" ? Engine::Vm : Engine::Rtl);
    return SLUICE_RT_OK;
  });
}

void sluice_rt_device_close(sluice_rt_device *device) {
  if (!device)
    return;
  if (device->session)
    device->session->close();
  delete device;
}

sluice_rt_status sluice_rt_device_set_pacing(sluice_rt_device *device, sluice_rt_pacing pacing) {
  if (!device || pacing < SLUICE_RT_QUEUED || pacing > SLUICE_RT_SPACED)
    return invalid("null device or unknown pacing");
  const std::lock_guard lock(device->mutex);
  device->pacing = static_cast<Pacing>(pacing);
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_device_set_waves(sluice_rt_device *device, const char *path) {
  if (!device)
    return invalid("null device");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    device->waves = path ? path : "";
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_set_stall_limit(sluice_rt_device *device, uint64_t cycles) {
  if (!device || cycles < 256)
    return invalid(
        fmt::format("null device or a stall limit of {}, allowed: 256 and more", cycles));
  const std::lock_guard lock(device->mutex);
  device->stallLimit = cycles;
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_device_load(sluice_rt_device *device, const sluice_rt_program *program) {
  if (!device || !program)
    return invalid("null argument");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    const format::Geometry &geometry = program->program->geometry;
    const std::string_view name = device->engine == Engine::Vm ? "vm" : "rtl";
    auto engine = makeEngine(device->engine, geometry, !device->waves.empty());
    if (!engine)
      return fail(SLUICE_RT_UNAVAILABLE, "E0606",
                  fmt::format("this build has no engine '{}' for target '{}' (hardware '{}'){}",
                              name, geometry.name, geometry.rtl,
                              device->engine == Engine::Rtl ? "; the vm serves every target" : ""));
    if (!device->waves.empty() && !engine->setWaves(device->waves))
      return fail(SLUICE_RT_UNAVAILABLE, "E0612",
                  fmt::format("engine '{}' cannot write waves to '{}'", name, device->waves));
    if (device->session)
      device->session->close();
    device->session =
        std::make_shared<Session>(std::move(engine), program->program, device->stallLimit);
    device->session->record(device->recording);
    if (device->held)
      device->session->hold();
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_reset(sluice_rt_device *device) {
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    session->reset();
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_hold(sluice_rt_device *device, int hold) {
  if (!device)
    return invalid("null device");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    const bool wanted = hold != 0;
    if (device->session && wanted != device->held)
      wanted ? device->session->hold() : device->session->resume();
    device->held = wanted;
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_counters(sluice_rt_device *device, sluice_rt_counters *counters) {
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session || !counters)
    return session ? invalid("null argument") : SLUICE_RT_INVALID_ARGUMENT;
  const Counters now = session->counters();
  *counters = {now.cycles, now.inputRows, now.outputRows, now.jobsSubmitted, now.jobsCompleted};
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_submit(sluice_rt_device *device, uint32_t model,
                                  const sluice_rt_array *inputs, uint32_t input_count,
                                  const sluice_rt_array *outputs, uint32_t output_count,
                                  void *context, sluice_rt_job **job) {
  if (!job)
    return invalid("null argument");
  *job = nullptr;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    const format::Program &program = session->program();
    if (model >= program.models.size())
      return invalid(fmt::format("model {} of {}", model, program.models.size()));
    const format::Model &found = program.models[model];
    std::string wrong = checkArrays(found.inputs, inputs, input_count, "input");
    if (wrong.empty())
      wrong = checkArrays(found.outputs, outputs, output_count, "output");
    if (!wrong.empty())
      return invalid(wrong);
    auto work = std::make_shared<Job>();
    work->model = model;
    work->inputRows = packInputs(found, program.geometry.lanes, inputs);
    for (uint32_t i = 0; i < output_count; ++i)
      work->outputs.push_back({outputs[i].data, static_cast<format::HostType>(outputs[i].type)});
    work->context = context;
    {
      const std::lock_guard lock(device->mutex);
      work->pacing = device->pacing;
    }
    auto handle = std::make_unique<sluice_rt_job>(sluice_rt_job{session, work});
    work->handle = handle.get();
    session->submit(work);
    *job = handle.release();
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_job_poll(sluice_rt_job *job) {
  if (!job)
    return invalid("null job");
  return endStatus(job->session->state(*job->job), *job->job);
}

sluice_rt_status sluice_rt_job_wait(sluice_rt_job *job) {
  if (!job)
    return invalid("null job");
  return endStatus(job->session->wait(*job->job), *job->job);
}

sluice_rt_status sluice_rt_device_next_ended(sluice_rt_device *device, uint32_t timeout_ms,
                                             sluice_rt_job **job) {
  if (!job)
    return invalid("null argument");
  *job = nullptr;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  const JobPtr ended = session->nextEnded(timeout_ms);
  if (!ended)
    return SLUICE_RT_PENDING;
  *job = static_cast<sluice_rt_job *>(ended->handle);
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_job_context(const sluice_rt_job *job, void **context) {
  if (!job || !context)
    return invalid("null argument");
  *context = job->job->context;
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_job_cycles_of(const sluice_rt_job *job, sluice_rt_job_cycles *cycles) {
  if (!job || !cycles)
    return invalid("null argument");
  if (job->session->state(*job->job) != JobState::Done)
    return invalid("the job has not ended with success");
  const Job &done = *job->job;
  const uint64_t latency = done.inputRows.empty() ? 0 : done.lastOutput - done.firstInput + 1;
  *cycles = {done.firstInput, done.lastOutput, latency, done.interval};
  return SLUICE_RT_OK;
}

void sluice_rt_job_release(sluice_rt_job *job) {
  if (!job)
    return;
  job->session->forget(job->job);
  delete job;
}
