// Loading and querying program files.
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "runtime/api/error.h"
#include "runtime/api/handles.h"
#include "runtime/api/host_input.h"
#include "runtime/api/packing.h"
#include "runtime/api/structs.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/program_file.h"

namespace sluice::runtime {
namespace {

thread_local std::string lastMessage;
thread_local std::string lastCode;

sluice_rt_status finishLoad(format::ReadResult result, sluice_rt_program **program) {
  if (!result.program) {
    std::string message;
    for (const format::FileProblem &problem : result.problems)
      message += (message.empty() ? "" : "; ") + problem.message;
    return fail(SLUICE_RT_BAD_PROGRAM, result.problems.front().code, message);
  }
  *program = new sluice_rt_program(
      std::make_shared<const format::Program>(std::move(*result.program)), result.identity);
  return SLUICE_RT_OK;
}

sluice_rt_status tensorInfo(const sluice_rt_program *program, uint32_t model, uint32_t index,
                            bool isOutput, sluice_rt_tensor_info *info) {
  if (!program || !info)
    return invalid("null argument");
  const auto &models = program->program->models;
  if (model >= models.size())
    return noSuch("model", model, models.size());
  const format::Model &found = models[model];
  const size_t count = isOutput ? found.outputs.size() : inputCount(found);
  if (index >= count)
    return noSuch(isOutput ? "output" : "input", index, count);
  const auto describe = [&](const HostInput &tensor, uint32_t dataDim) {
    const format::Limits limits = tensor.limits.value_or(format::Limits());
    return give<sluice_rt_tensor_info>(
        info, {.size = 0,
               .name = tensor.name.c_str(),
               .type = static_cast<sluice_rt_type>(tensor.type),
               .rank = static_cast<uint32_t>(tensor.shape.size()),
               .shape = tensor.shape.data(),
               .data_dim = dataDim,
               .elements = static_cast<uint64_t>(addressing::elementsOf(tensor.shape)),
               .low = limits.low,
               .high = limits.high});
  };
  if (!isOutput)
    return describe(hostInput(found, index), dataDimOf(found, index));
  const format::HostTensor &tensor = found.outputs[index];
  return describe({tensor.name, tensor.shape, tensor.type, std::nullopt},
                  format::PackedRows(tensor, found.steps).tensorDim());
}

} // namespace

sluice_rt_status fail(sluice_rt_status status, std::string code, std::string message) {
  lastCode = std::move(code);
  lastMessage = std::move(message);
  return status;
}

sluice_rt_status invalid(std::string message) {
  return fail(SLUICE_RT_INVALID_ARGUMENT, "E0601", std::move(message));
}

sluice_rt_status noSuch(std::string_view what, size_t index, size_t count) {
  return invalid(count == 0 ? fmt::format("{} {} does not exist, there is none", what, index)
                            : fmt::format("{} is {}, allowed: 0 to {}", what, index, count - 1));
}

} // namespace sluice::runtime

using namespace sluice::runtime;

uint32_t sluice_rt_api_version(void) { return SLUICE_RT_API_VERSION; }
const char *sluice_rt_last_error(void) { return lastMessage.c_str(); }
const char *sluice_rt_last_error_code(void) { return lastCode.c_str(); }
size_t sluice_rt_type_size(sluice_rt_type type) {
  return sluice::format::elementBytes(static_cast<sluice::format::HostType>(type));
}

sluice_rt_status sluice_rt_program_load_file(const char *path, sluice_rt_program **program) {
  if (!path || !program)
    return invalid("null argument");
  *program = nullptr;
  return guarded([&] { return finishLoad(sluice::format::readFile(path), program); });
}

sluice_rt_status sluice_rt_program_load_buffer(const void *data, size_t size,
                                               sluice_rt_program **program) {
  if (!data || !program)
    return invalid("null argument");
  *program = nullptr;
  return guarded([&] {
    return finishLoad(sluice::format::read({static_cast<const uint8_t *>(data), size}), program);
  });
}

void sluice_rt_program_release(sluice_rt_program *program) { delete program; }

sluice_rt_status sluice_rt_program_machine(const sluice_rt_program *program,
                                           sluice_rt_machine *machine) {
  if (!program || !machine)
    return invalid("null argument");
  const sluice::format::Geometry &geometry = program->program->geometry;
  return guarded([&] {
    return give<sluice_rt_machine>(machine, {.size = 0,
                                             .target = geometry.name.c_str(),
                                             .cores = geometry.cores,
                                             .lanes = geometry.lanes,
                                             .clock_mhz = geometry.clockMhz,
                                             .clock_source = geometry.clockSource.c_str()});
  });
}

sluice_rt_status sluice_rt_program_models(const sluice_rt_program *program, uint32_t *count) {
  if (!program || !count)
    return invalid("null argument");
  *count = static_cast<uint32_t>(program->program->models.size());
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_program_model(const sluice_rt_program *program, uint32_t model,
                                         sluice_rt_model_info *info) {
  if (!program || !info)
    return invalid("null argument");
  return guarded([&] {
    const auto &models = program->program->models;
    if (model >= models.size())
      return noSuch("model", model, models.size());
    const sluice::format::Model &found = models[model];
    return give<sluice_rt_model_info>(
        info, {.size = 0,
               .name = found.name.c_str(),
               .inputs = static_cast<uint32_t>(inputCount(found)),
               .outputs = static_cast<uint32_t>(found.outputs.size()),
               .macs = found.macs,
               .parameters = found.parameters,
               .random_draws = static_cast<uint32_t>(
                   found.arrays.empty() ? 0 : found.arrays.size() - inputCount(found))});
  });
}

sluice_rt_status sluice_rt_program_input(const sluice_rt_program *program, uint32_t model,
                                         uint32_t input, sluice_rt_tensor_info *info) {
  return guarded([&] { return tensorInfo(program, model, input, false, info); });
}

sluice_rt_status sluice_rt_program_output(const sluice_rt_program *program, uint32_t model,
                                          uint32_t output, sluice_rt_tensor_info *info) {
  return guarded([&] { return tensorInfo(program, model, output, true, info); });
}
