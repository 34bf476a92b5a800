#include "runtime/api/kept_inputs.h"

#include <fmt/format.h>

#include "runtime/api/host_input.h"

namespace sluice::runtime {

void KeptInputs::keep(uint32_t model, uint32_t input, bool keep) {
  if (keep)
    kept.try_emplace({model, input});
  else
    kept.erase({model, input});
}

void KeptInputs::discard() {
  for (auto &[place, one] : kept)
    one.bytes.reset();
}

std::vector<KeptInputs::Bytes> KeptInputs::complete(const format::Model &model, uint32_t number,
                                                    std::vector<sluice_rt_input> &inputs,
                                                    std::string &wrong) const {
  std::vector<Bytes> used;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto found = kept.find({number, i});
    if (found == kept.end() || inputs[i].data != nullptr || inputs[i].bytes != 0)
      continue;
    const Bytes &bytes = found->second.bytes;
    if (!bytes) {
      wrong = fmt::format("input '{}' is left out, but no job has given it since the program was "
                          "loaded or reset",
                          hostInput(model, i).name);
      return {};
    }
    inputs[i] = {sizeof(sluice_rt_input), bytes->data(), bytes->size(), found->second.type};
    used.push_back(bytes);
  }
  return used;
}

void KeptInputs::update(uint32_t number, std::span<const sluice_rt_input> inputs) {
  for (auto &[place, one] : kept) {
    if (place.first != number)
      continue;
    const sluice_rt_input &given = inputs[place.second];
    const auto *bytes = static_cast<const uint8_t *>(given.data);
    if (one.bytes && one.bytes->data() == bytes)
      continue; // the job left it out
    one = {given.type, std::make_shared<std::vector<uint8_t>>(bytes, bytes + given.bytes)};
  }
}

} // namespace sluice::runtime
