#include "tools/cli/engine.h"

#include <fmt/format.h>

#include "runtime/format/layout.h"
#include "runtime/format/program_file.h"
#include "sim/vm/work_ahead.h"
#include "tools/cli/command_output.h"
#include "tools/cli/progress.h"

namespace sluice::cli {
namespace {

Reason reasonOf(sluice_rt_status status) {
  switch (status) {
  case SLUICE_RT_STALLED:
    return EngineStops{true};
  case SLUICE_RT_FAULT:
    return EngineStops();
  case SLUICE_RT_CANCELLED:
  case SLUICE_RT_INTERNAL:
    return InternalError();
  case SLUICE_RT_OUT_OF_MEMORY:
    return LacksHostMemory();
  default:
    return {};
  }
}

/// The problem of the last call, which returned `status`; nothing if it did not fail.
std::optional<Problem> problemOf(sluice_rt_status status) {
  if (status == SLUICE_RT_OK)
    return std::nullopt;
  return problem(sluice_rt_last_error_code(), sluice_rt_last_error(), reasonOf(status));
}

std::vector<Port> ports(const sluice_rt_program *program, uint32_t model, uint32_t count,
                        decltype(sluice_rt_program_input) query) {
  std::vector<Port> result;
  for (uint32_t i = 0; i < count; ++i) {
    auto info = sized<sluice_rt_tensor_info>();
    query(program, model, i, &info);
    Port &port = result.emplace_back(
        Port{info.name, static_cast<io::Type>(info.type), {info.shape, info.shape + info.rank}});
    if (info.low != 0 || info.high != 0)
      port.limits = {info.low, info.high};
  }
  return result;
}

} // namespace

std::variant<ProgramHandle, Problem> ProgramHandle::load(const std::string &path) {
  if (path == "-") {
    auto bytes = io::readAll(path, format::kMagic);
    if (const auto *wrong = std::get_if<io::Error>(&bytes))
      return problem(wrong->code, wrong->message);
    return loadBytes(std::get<std::string>(std::move(bytes)));
  }
  sluice_rt_program *raw = nullptr;
  if (auto wrong = problemOf(sluice_rt_program_load_file(path.c_str(), &raw)))
    return std::move(*wrong);
  ProgramHandle handle;
  handle.file = path;
  handle.program = {raw, sluice_rt_program_release};
  return handle;
}

std::variant<ProgramHandle, Problem> ProgramHandle::loadBytes(std::string bytes) {
  sluice_rt_program *raw = nullptr;
  if (auto wrong = problemOf(sluice_rt_program_load_buffer(bytes.data(), bytes.size(), &raw)))
    return std::move(*wrong);
  ProgramHandle handle;
  handle.bytes = std::move(bytes);
  handle.program = {raw, sluice_rt_program_release};
  return handle;
}

std::optional<uint64_t> ProgramHandle::cyclesAhead() const {
  const format::ReadResult read =
      bytes.empty()
          ? format::readFile(file)
          : format::read(std::span(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  if (!read.program || read.program->state.places.empty() || read.program->models[0].steps > 1)
    return std::nullopt;
  return vm::cyclesAhead(*read.program);
}

sluice_rt_machine ProgramHandle::machine() const {
  auto machine = sized<sluice_rt_machine>();
  sluice_rt_program_machine(get(), &machine);
  return machine;
}

sluice_rt_model_info ProgramHandle::model(uint32_t index) const {
  auto info = sized<sluice_rt_model_info>();
  sluice_rt_program_model(get(), index, &info);
  return info;
}

std::variant<uint32_t, Problem> ProgramHandle::findModel(const std::string &name) const {
  uint32_t count = 0;
  sluice_rt_program_models(get(), &count);
  std::string names;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string found = model(i).name;
    if (found == name || (name.empty() && count == 1))
      return i;
    names += (names.empty() ? "" : ", ") + found;
  }
  return problem(
      "E0602", name.empty()
                   ? fmt::format("the file has several models; choose one with --model: {}", names)
                   : fmt::format("the file has no model '{}', allowed: {}", name, names));
}

std::vector<Port> ProgramHandle::inputs(uint32_t index) const {
  return ports(get(), index, model(index).inputs, sluice_rt_program_input);
}

std::vector<Port> ProgramHandle::outputs(uint32_t index) const {
  return ports(get(), index, model(index).outputs, sluice_rt_program_output);
}

void ModelChoice::add(CLI::App &command) {
  command.add_option("file", file, "program file; - is standard input")->required();
  command.add_option("--model", model, "model to use, if the file has several")->type_name("NAME");
}

std::variant<ModelHandle, Problem> ModelHandle::load(const ModelChoice &choice) {
  auto loaded = ProgramHandle::load(choice.file);
  if (auto *wrong = std::get_if<Problem>(&loaded))
    return std::move(*wrong);
  return of(std::get<ProgramHandle>(std::move(loaded)), choice.model);
}

std::variant<ModelHandle, Problem> ModelHandle::of(ProgramHandle program, const std::string &name) {
  ModelHandle handle;
  handle.loaded = std::move(program);
  auto found = handle.loaded.findModel(name);
  if (auto *wrong = std::get_if<Problem>(&found))
    return std::move(*wrong);
  handle.number = std::get<uint32_t>(found);
  handle.in = handle.loaded.inputs(handle.number);
  handle.out = handle.loaded.outputs(handle.number);
  return handle;
}

std::vector<io::Tensor> ModelHandle::someInputs() const {
  std::vector<io::Tensor> inputs;
  for (size_t i = 0; i < in.size(); ++i)
    inputs.push_back(randomTensor(in[i], 1, i, 0));
  return inputs;
}

std::variant<EngineHandle, Problem> EngineHandle::open(const std::string &engine,
                                                       const ModelHandle &model,
                                                       const std::string &waves,
                                                       uint64_t stallLimit) {
  sluice_rt_device *raw = nullptr;
  if (auto wrong = problemOf(sluice_rt_device_open(engine.c_str(), &raw)))
    return std::move(*wrong);
  EngineHandle handle;
  handle.name = engine;
  handle.model = model;
  handle.device = {raw, sluice_rt_device_close};
  handle.kept.resize(model.inputs().size());
  auto wrong = problemOf(sluice_rt_device_set_pacing(raw, SLUICE_RT_SPACED));
  if (!wrong)
    wrong = problemOf(sluice_rt_device_set_stall_limit(raw, stallLimit));
  if (!wrong)
    wrong = problemOf(sluice_rt_device_set_waves(raw, waves.empty() ? nullptr : waves.c_str()));
  if (!wrong)
    wrong = problemOf(sluice_rt_device_load(raw, model.program().get()));
  if (wrong)
    return std::move(*wrong);
  return handle;
}

std::optional<Problem> EngineHandle::keep(size_t input) {
  const auto number = static_cast<uint32_t>(input);
  if (auto wrong = problemOf(sluice_rt_device_keep_input(device.get(), model.index(), number, 1)))
    return wrong;
  kept[input] = true;
  return std::nullopt;
}

void EngineHandle::setSeed(uint64_t seed, uint64_t inference) {
  sluice_rt_device_set_seed(device.get(), seed, inference);
}

std::variant<Inference, Problem> EngineHandle::infer(const std::vector<io::Tensor> &inputs,
                                                     const std::string &progress) {
  auto done = inferPaced(inputs, SLUICE_RT_SPACED, 1, progress);
  if (const auto *wrong = std::get_if<Problem>(&done))
    return *wrong;
  return std::move(std::get<std::vector<Inference>>(done).front());
}

std::variant<std::vector<Inference>, Problem>
EngineHandle::inferPaced(const std::vector<io::Tensor> &inputs, sluice_rt_pacing pacing,
                         unsigned count, const std::string &progress) {
  std::vector<sluice_rt_input> in;
  for (const io::Tensor &tensor : inputs) {
    const bool isLeftOut = isGiven && kept[in.size()];
    in.push_back({sizeof(sluice_rt_input), isLeftOut ? nullptr : tensor.data.data(),
                  isLeftOut ? 0 : tensor.data.size(), static_cast<sluice_rt_type>(tensor.type)});
  }
  std::vector<Inference> results(count);
  std::vector<std::shared_ptr<sluice_rt_job>> jobs;
  sluice_rt_device_set_pacing(device.get(), pacing);
  sluice_rt_device_hold(device.get(), 1);
  for (Inference &result : results) {
    std::vector<sluice_rt_output> out;
    for (const Port &port : model.outputs()) {
      io::Tensor tensor{port.name, port.type, port.shape, {}};
      tensor.data.resize(static_cast<size_t>(io::elementCount(port.shape)) *
                         format::elementBytes(port.type));
      result.outputs.push_back(std::move(tensor));
      io::Tensor &placed = result.outputs.back();
      out.push_back({sizeof(sluice_rt_output), placed.data.data(), placed.data.size(),
                     static_cast<sluice_rt_type>(port.type)});
    }
    sluice_rt_job *raw = nullptr;
    if (auto wrong = problemOf(sluice_rt_submit(
            device.get(), model.index(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
            static_cast<uint32_t>(out.size()), nullptr, &raw))) {
      sluice_rt_device_reset(device.get()); // the outputs of earlier jobs go away
      sluice_rt_device_hold(device.get(), 0);
      return std::move(*wrong);
    }
    jobs.emplace_back(raw, sluice_rt_job_release);
  }
  isGiven = true;
  sluice_rt_device_hold(device.get(), 0);
  ProgressLine line(fmt::format("{}, {}", name, progress));
  for (unsigned i = 0; i < count; ++i) {
    sluice_rt_job *ended = nullptr;
    while (sluice_rt_device_next_ended(device.get(), 200, &ended) == SLUICE_RT_PENDING) {
      auto counters = sized<sluice_rt_counters>();
      sluice_rt_device_counters(device.get(), &counters);
      line.update(count > 1
                      ? fmt::format("{} of {} inferences, {} cycles", i, count, counters.cycles)
                      : fmt::format("{} cycles", counters.cycles));
    }
    sluice_rt_job_release(ended);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (auto wrong = problemOf(sluice_rt_job_wait(jobs[i].get()))) {
      wrong->message = fmt::format("engine {}: {}", name, wrong->message);
      return std::move(*wrong);
    }
    results[i].cycles = sized<sluice_rt_job_cycles>();
    sluice_rt_job_cycles_of(jobs[i].get(), &results[i].cycles);
  }
  return results;
}

UnitCounters EngineHandle::counters() const {
  sluice_rt_unit_counters *counters = nullptr;
  if (sluice_rt_device_unit_counters(device.get(), &counters) != SLUICE_RT_OK)
    return {};
  uint32_t count = 0;
  sluice_rt_unit_counters_units(counters, &count);
  UnitCounters units;
  for (uint32_t i = 0; i < count; ++i) {
    auto unit = sized<sluice_rt_unit_cycles>();
    sluice_rt_unit_counters_unit(counters, i, &unit);
    units.push_back({unit.unit, unit.core, {unit.cycles, unit.cycles + unit.activities}});
  }
  sluice_rt_unit_counters_release(counters);
  return units;
}

void EngineHandle::record() { sluice_rt_device_record(device.get(), 1); }

std::vector<sluice_rt_span> EngineHandle::recorded() const {
  sluice_rt_recording *recording = nullptr;
  if (sluice_rt_device_recording(device.get(), &recording) != SLUICE_RT_OK)
    return {};
  size_t count = 0;
  sluice_rt_recording_spans(recording, &count);
  std::vector<sluice_rt_span> spans(count, sized<sluice_rt_span>());
  for (size_t i = 0; i < count; ++i)
    sluice_rt_recording_span(recording, i, &spans[i]);
  sluice_rt_recording_release(recording);
  return spans;
}

std::optional<Problem> EngineHandle::reset() {
  isGiven = false;
  return problemOf(sluice_rt_device_reset(device.get()));
}

std::optional<Problem> EngineHandle::save(std::string &state) {
  size_t size = 0;
  sluice_rt_program_state_size(model.program().get(), &size);
  state.resize(size);
  return problemOf(sluice_rt_device_save_state(device.get(), state.data(), size));
}

std::optional<Problem> EngineHandle::restore(const std::string &state) {
  return problemOf(sluice_rt_device_restore_state(device.get(), state.data(), state.size()));
}

uint64_t EngineHandle::switchCycles() const {
  auto counters = sized<sluice_rt_counters>();
  sluice_rt_device_counters(device.get(), &counters);
  return counters.switch_cycles;
}

} // namespace sluice::cli
