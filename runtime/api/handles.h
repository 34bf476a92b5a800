// What the opaque handles are.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "runtime/api/session.h"
#include "runtime/api/sluice_rt.h"
#include "runtime/format/program.h"

struct sluice_rt_program {
  std::shared_ptr<const sluice::format::Program> program;
};

struct sluice_rt_device {
  enum class Engine { Vm, Rtl };
  explicit sluice_rt_device(Engine engine) : engine(engine) {}

  const Engine engine;
  std::mutex mutex; ///< guards what follows; the session guards itself
  std::string waves;
  uint64_t stallLimit = 10000;
  sluice::runtime::Pacing pacing = sluice::runtime::Pacing::Queued;
  std::shared_ptr<sluice::runtime::Session> session; ///< null until a program is loaded
  bool held = false;                                 ///< sluice_rt_device_hold
};

struct sluice_rt_job {
  std::shared_ptr<sluice::runtime::Session> session;
  sluice::runtime::JobPtr job;
};
