// Devices and jobs.
#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "runtime/api/error.h"
#include "runtime/api/handles.h"
#include "runtime/api/host_input.h"
#include "runtime/api/packing.h"
#include "runtime/api/sessions.h"
#include "runtime/api/structs.h"

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

const char *nameOf(Engine engine) { return engine == Engine::Vm ? "vm" : "rtl"; }

/// Remembers why makeEngine gives none.
sluice_rt_status noEngine(Engine engine, const format::Geometry &geometry,
                          const std::string &waves) {
  std::string why = "the build does not contain it";
#ifdef SLUICE_HAVE_RTL
  if (engine == Engine::Rtl && !waves.empty() && makeEngine(engine, geometry, false)) {
    const std::vector<std::string> able = device::rtlModels(true);
    std::vector<std::string> all = able;
    all.push_back(geometry.rtl);
    return fail(
        SLUICE_RT_UNAVAILABLE, "E0612",
        fmt::format("engine 'rtl' of this build cannot write waves of hardware '{}' to '{}', only "
                    "of {}; configure with -DSLUICE_RTL_WAVES='{}', or run without waves",
                    geometry.rtl, waves,
                    able.empty() ? "none" : fmt::format("{}", fmt::join(able, ", ")),
                    fmt::join(all, ";")));
  }
  if (engine == Engine::Rtl)
    why = device::whyNoRtl(geometry) + "; engine 'vm' runs every target";
#endif
  return fail(SLUICE_RT_UNAVAILABLE, "E0606",
              fmt::format("engine '{}' of this build cannot run target '{}': {}", nameOf(engine),
                          geometry.name, why));
}

/// What an array of the host must be.
struct Expected {
  std::string_view name;
  format::HostType type;
  uint64_t elements;
};

std::vector<Expected> expectedInputs(const format::Model &model) {
  std::vector<Expected> all;
  for (size_t i = 0; i < inputCount(model); ++i) {
    const HostInput input = hostInput(model, i);
    all.push_back(
        {input.name, input.type, static_cast<uint64_t>(addressing::elementsOf(input.shape))});
  }
  return all;
}

std::vector<Expected> expectedOutputs(const format::Model &model) {
  std::vector<Expected> all;
  for (const format::HostTensor &output : model.outputs)
    all.push_back({output.name, output.type, elementCount(output)});
  return all;
}

/// The arrays of one direction; what is wrong with them goes to `wrong`.
template <typename Array>
std::vector<Array> takeArrays(const std::vector<Expected> &tensors, const Array *theirs,
                              size_t count, std::string &wrong) {
  constexpr bool isOutput = std::is_same_v<Array, sluice_rt_output>;
  const std::string_view direction = isOutput ? "output" : "input";
  const auto refuse = [&](std::string why) {
    wrong = std::move(why);
    return std::vector<Array>();
  };
  if (count != tensors.size())
    return refuse(fmt::format("got {} {}s, the model has {}", count, direction, tensors.size()));
  if (count != 0 && !theirs)
    return refuse(fmt::format("the {} arrays are a null pointer", direction));
  std::vector<Array> arrays = take(theirs, count, wrong);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const size_t element = sluice_rt_type_size(arrays[i].type);
    if (element == 0)
      return refuse(fmt::format("{} '{}' has type {}, allowed: 1 to {}", direction, tensors[i].name,
                                static_cast<int>(arrays[i].type),
                                static_cast<int>(format::kLastHostType)));
    const auto type = static_cast<format::HostType>(arrays[i].type);
    if (isOutput && format::isInteger(type) && !format::isInteger(tensors[i].type))
      return refuse(fmt::format("output '{}' of type {} is given {} elements, allowed: "
                                "floating-point types",
                                tensors[i].name, nameOf(tensors[i].type), nameOf(type)));
    const uint64_t bytes = tensors[i].elements * element;
    if (!arrays[i].data || arrays[i].bytes != bytes)
      return refuse(fmt::format("{} '{}' has {} bytes, expected {}", direction, tensors[i].name,
                                arrays[i].data ? arrays[i].bytes : 0, bytes));
  }
  return arrays;
}

/// Says which elements inputs do not accept, or "".
std::string refusedElements(const format::Model &model,
                            const std::vector<sluice_rt_input> &inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const HostInput expected = hostInput(model, i); expected.limits)
      if (const std::string one = refusedElement(
              expected.name, expected.type, *expected.limits,
              {inputs[i].data, static_cast<format::HostType>(inputs[i].type), expected.shape});
          !one.empty())
        text += (text.empty() ? "" : "; ") + one;
  return text;
}

/// After a reset, no input is known, and the random numbers begin anew.
void forgetJobs(sluice_rt_device &device, const std::shared_ptr<Session> &session) {
  const std::lock_guard lock(device.mutex);
  if (device.session != session)
    return;
  device.kept.discard();
  device.drawn.inference = 0;
}

/// Appends the arrays of random numbers to the inputs of the user. Returns their elements, which
/// must live as long as the inputs are read.
std::vector<std::vector<float>> addDrawn(const format::Model &model, const DrawnInference &of,
                                         std::vector<sluice_rt_input> &inputs) {
  std::vector<std::vector<float>> drawn;
  for (const format::HostArray &array : model.arrays)
    if (array.random) {
      const auto elements = static_cast<uint64_t>(addressing::elementsOf(array.shape));
      const auto &numbers = drawn.emplace_back(drawnArray(*array.random, array.type, elements, of));
      inputs.push_back({sizeof(sluice_rt_input), numbers.data(), numbers.size() * sizeof(float),
                        SLUICE_RT_FLOAT32});
    }
  return drawn;
}

/// The rows of all inputs in the order in which the machine takes them.
std::vector<uint16_t> packInputs(const format::Model &model, uint32_t lanes,
                                 const std::vector<sluice_rt_input> &inputs) {
  std::vector<size_t> order(model.inputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return model.inputs[a].firstRow < model.inputs[b].firstRow;
  });
  size_t rows = 0;
  for (const format::HostTensor &tensor : model.inputs)
    rows += tensor.rows;
  std::vector<uint16_t> all(rows * lanes * model.steps);
  size_t offset = 0; // in the rows of a step
  for (size_t index : order) {
    const format::HostTensor &tensor = model.inputs[index];
    const size_t size = size_t{tensor.rows} * lanes;
    const sluice_rt_input &array = inputs[arrayOf(model, index)];
    const auto type = static_cast<format::HostType>(array.type);
    const auto at = [&](uint32_t step) {
      return std::span(all).subspan(step * rows * lanes + offset, size);
    };
    if (tensor.stepAxis) {
      std::vector<uint16_t> parts(size * model.steps);
      pack(tensor, lanes, array.data, type, parts, model.steps);
      for (uint32_t step = 0; step < model.steps; ++step)
        std::ranges::copy(std::span(parts).subspan(step * size, size), at(step).begin());
    } else {
      pack(tensor, lanes, array.data, type, at(0));
      for (uint32_t step = 1; step < model.steps; ++step)
        std::ranges::copy(at(0), at(step).begin());
    }
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
  if (device->session && device->session->isForeign())
    return; // left behind: it cannot be destroyed without its thread
  if (device->session)
    device->session->close();
  delete device;
}

sluice_rt_status sluice_rt_device_set_pacing(sluice_rt_device *device, sluice_rt_pacing pacing) {
  if (!device)
    return invalid("null device");
  if (pacing < SLUICE_RT_QUEUED || pacing > SLUICE_RT_SPACED)
    return invalid(fmt::format("pacing is {}, allowed: 0 to 2", static_cast<int>(pacing)));
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
  if (!device)
    return invalid("null device");
  if (cycles < 256)
    return invalid(fmt::format("the stall limit is {}, allowed: 256 or more", cycles));
  const std::lock_guard lock(device->mutex);
  device->stallLimit = cycles;
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_device_set_seed(sluice_rt_device *device, uint64_t seed,
                                           uint64_t inference) {
  if (!device)
    return invalid("null device");
  const std::lock_guard lock(device->mutex);
  device->drawn = {seed, inference};
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_device_load(sluice_rt_device *device, const sluice_rt_program *program) {
  if (!device || !program)
    return invalid("null argument");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    if (device->session && !isUsable(device->session.get()))
      return SLUICE_RT_INVALID_ARGUMENT;
    const format::Geometry &geometry = program->program->geometry;
    auto engine = makeEngine(device->engine, geometry, !device->waves.empty());
    if (!engine)
      return noEngine(device->engine, geometry, device->waves);
    if (!device->waves.empty() && !engine->setWaves(device->waves))
      return fail(SLUICE_RT_UNAVAILABLE, "E0612",
                  fmt::format("engine '{}' cannot write waves to '{}', allowed: engine 'rtl'",
                              nameOf(device->engine), device->waves));
    if (device->session)
      device->session->close();
    device->session =
        std::make_shared<Session>(std::move(engine), program->program, device->stallLimit);
    device->identity = program->identity;
    device->kept = {};
    device->drawn.inference = 0;
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
    forgetJobs(*device, session);
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_submit_reset(sluice_rt_device *device, void *context,
                                        sluice_rt_job **job) {
  if (job)
    *job = nullptr;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    auto work = std::make_shared<Job>();
    work->isReset = true;
    work->context = context;
    auto handle = job ? std::make_unique<sluice_rt_job>(session, work) : nullptr;
    session->submit(work);
    forgetJobs(*device, session);
    if (job)
      *job = handle.release();
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_keep_input(sluice_rt_device *device, uint32_t model,
                                             uint32_t input, int keep) {
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    const format::Program &program = session->program();
    if (model >= program.models.size())
      return noSuch("model", model, program.models.size());
    if (input >= inputCount(program.models[model]))
      return noSuch("input", input, inputCount(program.models[model]));
    const std::lock_guard lock(device->mutex);
    if (device->session != session)
      return invalid("another program was loaded during the call");
    device->kept.keep(model, input, keep != 0);
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_hold(sluice_rt_device *device, int hold) {
  if (!device)
    return invalid("null device");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    if (device->session && !isUsable(device->session.get()))
      return SLUICE_RT_INVALID_ARGUMENT;
    const bool wanted = hold != 0;
    if (device->session && wanted != device->held)
      wanted ? device->session->hold() : device->session->resume();
    device->held = wanted;
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_counters(const sluice_rt_device *device,
                                           sluice_rt_counters *counters) {
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session || !counters)
    return session ? invalid("null argument") : SLUICE_RT_INVALID_ARGUMENT;
  const Counters now = session->counters();
  return guarded([&] {
    return give<sluice_rt_counters>(counters, {.size = 0,
                                               .cycles = now.cycles,
                                               .input_rows = now.inputRows,
                                               .output_rows = now.outputRows,
                                               .jobs_submitted = now.jobsSubmitted,
                                               .jobs_completed = now.jobsCompleted,
                                               .switch_cycles = now.switchCycles});
  });
}

sluice_rt_status sluice_rt_submit(sluice_rt_device *device, uint32_t model,
                                  const sluice_rt_input *inputs, uint32_t input_count,
                                  const sluice_rt_output *outputs, uint32_t output_count,
                                  void *context, sluice_rt_job **job) {
  if (job)
    *job = nullptr;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    const format::Program &program = session->program();
    if (model >= program.models.size())
      return noSuch("model", model, program.models.size());
    const format::Model &found = program.models[model];
    std::string wrong;
    std::vector<sluice_rt_input> given;
    if (inputs && input_count == inputCount(found))
      given = take(inputs, input_count, wrong);
    for (sluice_rt_input &one : given)
      one.size = sizeof one;
    if (!wrong.empty())
      return invalid(wrong);
    std::vector<KeptInputs::Bytes> kept; // must outlive `in`
    {
      const std::lock_guard lock(device->mutex);
      if (device->session == session)
        kept = device->kept.complete(found, model, given, wrong);
    }
    if (!wrong.empty())
      return fail(SLUICE_RT_INVALID_ARGUMENT, "E0603", std::move(wrong));
    const auto in = takeArrays(expectedInputs(found), given.empty() ? inputs : given.data(),
                               input_count, wrong);
    if (!wrong.empty())
      return invalid(wrong);
    const auto out = takeArrays(expectedOutputs(found), outputs, output_count, wrong);
    if (!wrong.empty())
      return invalid(wrong);
    if (std::string refused = refusedElements(found, in); !refused.empty())
      return fail(SLUICE_RT_INVALID_ARGUMENT, "E0618", std::move(refused));
    auto work = std::make_shared<Job>();
    work->model = model;
    DrawnInference drawn;
    {
      const std::lock_guard lock(device->mutex);
      drawn = device->drawn;
      if (device->session == session)
        ++device->drawn.inference;
    }
    std::vector<sluice_rt_input> all = in;
    const auto numbers = addDrawn(found, drawn, all);
    work->inputRows = packInputs(found, program.geometry.lanes, all);
    for (const sluice_rt_output &array : out)
      work->outputs.push_back({array.data, static_cast<format::HostType>(array.type)});
    work->context = context;
    {
      const std::lock_guard lock(device->mutex);
      work->pacing = device->pacing;
      if (device->session == session)
        device->kept.update(model, in);
    }
    auto handle = job ? std::make_unique<sluice_rt_job>(session, work) : nullptr;
    session->submit(work);
    if (job)
      *job = handle.release();
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_job_poll(const sluice_rt_job *job) {
  if (!job)
    return invalid("null job");
  if (!isUsable(job->session.get()))
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] { return endStatus(job->session->state(*job->job), job->job->error); });
}

sluice_rt_status sluice_rt_job_wait(const sluice_rt_job *job) {
  if (!job)
    return invalid("null job");
  if (!isUsable(job->session.get()))
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] { return endStatus(job->session->wait(*job->job), job->job->error); });
}

sluice_rt_status sluice_rt_job_wait_for(const sluice_rt_job *job, uint32_t timeout_ms) {
  if (!job)
    return invalid("null job");
  if (!isUsable(job->session.get()))
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded(
      [&] { return endStatus(job->session->waitFor(*job->job, timeout_ms), job->job->error); });
}

sluice_rt_status sluice_rt_device_next_ended(sluice_rt_device *device, uint32_t timeout_ms,
                                             sluice_rt_job **job) {
  if (!job)
    return invalid("null argument");
  *job = nullptr;
  const std::shared_ptr<Session> session = sessionOf(device);
  if (!session)
    return SLUICE_RT_INVALID_ARGUMENT;
  return guarded([&] {
    // Made first: a job is not lost for want of memory.
    auto handle = std::make_unique<sluice_rt_job>(session, nullptr);
    handle->job = session->nextEnded(timeout_ms);
    if (!handle->job)
      return SLUICE_RT_PENDING;
    *job = handle.release();
    return SLUICE_RT_OK;
  });
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
    return invalid("the job is pending or has failed");
  const Job &done = *job->job;
  const uint64_t latency = done.isReset             ? done.lastOutput - done.firstInput
                           : done.inputRows.empty() ? 0
                                                    : done.lastOutput - done.firstInput + 1;
  return guarded([&] {
    return give<sluice_rt_job_cycles>(cycles, {.size = 0,
                                               .first_input = done.firstInput,
                                               .last_output = done.lastOutput,
                                               .latency = latency,
                                               .interval = done.interval});
  });
}

void sluice_rt_job_release(sluice_rt_job *job) {
  if (!job)
    return;
  job->session->forget(job->job);
  if (!job->session->isForeign())
    delete job;
}
