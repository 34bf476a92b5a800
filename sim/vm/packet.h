// The packets of the network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/vm/unit_front.h"

namespace sluice::vm {

/// A row, a token or both, for any set of cores and the host.
struct Packet {
  Cycle from = 0; ///< first cycle in which the packet is visible in the FIFO of the sender
  uint32_t address = 0;
  uint16_t mask = 0;
  bool hasRow = false;
  bool signals = false;
  uint8_t token = 0;
  uint8_t units = 0;
  /// The row, in memory of the sender. It stays valid until the packet is delivered.
  std::span<const uint16_t> row;

  bool forHost() const { return mask >> isa::kHostBit & 1; }
  bool forCore(uint32_t core) const { return mask >> core & 1; }
};

/// A pool of rows, which `next` returns in rotation.
class RowStore {
public:
  RowStore(uint32_t count, uint32_t lanes) : storage(size_t{count} * lanes), lanes(lanes) {}
  std::span<uint16_t> next() {
    const std::span<uint16_t> row{&storage[at], lanes};
    at = (at + lanes) % storage.size();
    return row;
  }

private:
  std::vector<uint16_t> storage;
  uint32_t lanes;
  size_t at = 0;
};

/// Returns the number of rows that a sender needs for its packets: those in its FIFO of `depth`
/// entries and those on the network.
constexpr uint32_t packetRowCount(uint32_t depth, const isa::Latencies &latencies) {
  return depth + latencies.hop() + 1;
}

} // namespace sluice::vm
