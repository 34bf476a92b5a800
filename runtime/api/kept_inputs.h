// The inputs that a device keeps from job to job.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/sluice_rt.h"
#include "runtime/format/program.h"

namespace sluice::runtime {

/// The inputs that jobs may leave out, and the last array of each.
class KeptInputs {
public:
  using Bytes = std::shared_ptr<const std::vector<uint8_t>>;

  /// Starts or ends keeping an input. Ending discards its array.
  void keep(uint32_t model, uint32_t input, bool keep);

  /// Discards all arrays: the next job must give the inputs.
  void discard();

  /// Puts the kept arrays in place of those that a job leaves out: of no bytes at a null pointer.
  /// Returns them; they must live as long as `inputs` are read. `wrong` receives the message if an
  /// array is left out that no job has given.
  std::vector<Bytes> complete(const format::Model &model, uint32_t number,
                              std::vector<sluice_rt_input> &inputs, std::string &wrong) const;

  /// Keeps the arrays that a job gives.
  void update(uint32_t number, std::span<const sluice_rt_input> inputs);

private:
  struct Kept {
    sluice_rt_type type = SLUICE_RT_FLOAT32;
    Bytes bytes; ///< null: no job has given the input
  };
  std::map<std::pair<uint32_t, uint32_t>, Kept> kept; ///< by model and input
};

} // namespace sluice::runtime
