// What the opaque handles are.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/drawn_array.h"
#include "runtime/api/kept_inputs.h"
#include "runtime/api/session.h"
#include "runtime/api/sluice_rt.h"
#include "runtime/format/program.h"
#include "runtime/format/sha256.h"

struct sluice_rt_program {
  sluice_rt_program(std::shared_ptr<const sluice::format::Program> program,
                    const sluice::format::Sha256 &identity)
      : program(std::move(program)), identity(identity) {}

  const std::shared_ptr<const sluice::format::Program> program;
  const sluice::format::Sha256 identity; ///< format::ReadResult

  /// What sluice_rt_program_instruction says, made when it is first asked.
  struct Listed {
    std::string text;
    sluice_rt_unit unit = SLUICE_RT_SEQUENCER;
    bool multiplies = false;
    std::vector<uint32_t> nodes;
    std::string moves;
  };
  mutable std::once_flag listed;
  mutable std::vector<std::vector<Listed>> listing; ///< by core, the host port last
};

struct sluice_rt_device {
  enum class Engine { Vm, Rtl };
  explicit sluice_rt_device(Engine engine) : engine(engine) {}

  const Engine engine;
  mutable std::mutex mutex; ///< guards what follows; the session guards itself
  std::string waves;
  uint64_t stallLimit = 10000;
  sluice::runtime::Pacing pacing = sluice::runtime::Pacing::Queued;
  std::shared_ptr<sluice::runtime::Session> session; ///< null until a program is loaded
  sluice::format::Sha256 identity{};                 ///< of that program
  sluice::runtime::KeptInputs kept;                  ///< of that program
  /// Of the next job; the inference is 0 behind a load or a reset.
  sluice::runtime::DrawnInference drawn;
  bool held = false;      ///< sluice_rt_device_hold
  bool recording = false; ///< sluice_rt_device_record
};

/// One of possibly two of the same job: that of submit and that of next_ended.
struct sluice_rt_job {
  sluice_rt_job(std::shared_ptr<sluice::runtime::Session> session, sluice::runtime::JobPtr job)
      : session(std::move(session)), job(std::move(job)) {}

  std::shared_ptr<sluice::runtime::Session> session;
  sluice::runtime::JobPtr job;
};
