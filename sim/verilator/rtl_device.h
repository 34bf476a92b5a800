// The `rtl` engine of one Verilated model.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "sim/verilator/model.h"

namespace sluice::device {

/// Returns the engine of a model, which must live longer.
std::unique_ptr<Device> makeRtl(const verilator::ModelEntry &entry);

} // namespace sluice::device
