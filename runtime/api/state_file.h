// A saved state as bytes: what sluice_rt_device_save_state gives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/format/program.h"
#include "runtime/format/sha256.h"

namespace sluice::runtime {

/// Bytes of a program's saved state; 0 if it has none.
size_t stateFileSize(const format::Program &program);

/// Magic, version, the identity of the program (format::ReadResult), the rows of the image
/// (runtime/format/state.h), and the SHA-256 of all this.
std::vector<uint8_t> packState(const format::Sha256 &identity, std::span<const uint16_t> image);

/// Reads the image from stateFileSize bytes. Returns what is wrong with them, or nothing.
std::optional<std::string> unpackState(const format::Program &program,
                                       const format::Sha256 &identity,
                                       std::span<const uint8_t> bytes,
                                       std::vector<uint16_t> &image);

} // namespace sluice::runtime
