#include "runtime/device/places.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/isa/isa.h"
#include "hw/isa/matrix_beats.h"
#include "runtime/device/stall.h"
#include "runtime/format/address_set.h"
#include "runtime/format/host_rows.h"
#include "runtime/format/sequencer.h"
#include "runtime/format/steps.h"

namespace sluice::device {
namespace {

/// More things than this in one place are counted.
constexpr size_t kNamed = 4;

/// Instructions of the host port that are followed: one that only waits in loops within loops would
/// go on for long.
constexpr uint64_t kFollowed = uint64_t{1} << 22;

/// The instructions of inferences, without those that save the state.
std::vector<isa::Instruction> instructionsOf(const format::Program &program, uint32_t core) {
  const auto &all =
      core < program.cores.size() ? program.cores[core].instructions : program.hostInstructions;
  const uint32_t save = program.state.save.empty() ? 0 : program.state.save[core];
  std::vector<isa::Instruction> list;
  for (size_t i = 0; i < (save == 0 ? all.size() : save); ++i)
    list.push_back(isa::decode(all[i]).value_or(isa::Halt{}));
  return list;
}

/// The address of a beat; `ring` is log2 of the rows around the base that it stays in, 0: none.
uint32_t ringAddress(uint32_t base, int64_t moved, uint32_t ring, unsigned bits) {
  const uint32_t span = (1U << (ring != 0 ? ring : bits)) - 1;
  const uint32_t region = ring != 0 ? base & ~span : 0;
  return region | (static_cast<uint32_t>(base + moved) & span);
}

} // namespace

Places::Port::Port(std::vector<format::HostTensor> list, uint32_t lanes, uint32_t steps)
    : tensors(std::move(list)), lanes(lanes) {
  std::ranges::sort(tensors, {}, &format::HostTensor::firstRow);
  for (format::HostTensor tensor : tensors) {
    // Every step's rows are those of a tensor of its part.
    tensor.shape = format::stepShape(tensor, steps);
    tensor.stepAxis.reset();
    slots.push_back(format::hostSlots(tensor, lanes));
  }
}

uint32_t Places::Port::rows() const {
  uint32_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows += tensor.rows;
  return rows;
}

/// A row of a tensor by the element in its first lane and the lanes that it uses.
std::string Places::Port::name(size_t tensor, uint32_t row) const {
  const addressing::Addressing &at = slots[tensor];
  const int64_t slot = int64_t{row} * lanes;
  const addressing::Indices index = at.indexOf(at.positionAt(slot).value_or(0));
  std::string text;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    text += fmt::format("{}{}", axis == 0 ? "" : ", ", index[axis]);
    const int64_t last = std::min(at.shape()[axis], index[axis] + lanes) - 1;
    if (axis == tensors[tensor].dataDim && last != index[axis])
      text += fmt::format("..{}", last);
  }
  const auto &along = tensors[tensor].stepAxis;
  return tensors[tensor].name + (index.empty() ? "" : "[" + text + "]") +
         (along ? " of a step" : "");
}

std::string Places::Port::numbered(uint32_t number) const {
  for (size_t i = 0; i < tensors.size(); number -= tensors[i++].rows)
    if (number < tensors[i].rows)
      return name(i, number);
  return "";
}

std::string Places::Port::addressed(uint32_t row) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (row >= tensors[i].firstRow && row - tensors[i].firstRow < tensors[i].rows)
      return name(i, row - tensors[i].firstRow);
  return "";
}

/// The streams of one list of instructions.
class Places::Reader {
public:
  Reader(const format::Program &program, uint32_t core) : list(instructionsOf(program, core)) {
    valid = !format::analyseSequencer(list, info);
  }

  /// The addresses of a stream, ascending.
  template <typename Inst, typename Strides>
  std::vector<uint32_t> addresses(size_t index, const Inst &inst, uint32_t base,
                                  const Strides &strides, uint32_t reg, uint32_t ring,
                                  unsigned bits) const {
    format::AddressStream stream = format::addressesFrom(base, bits, ring);
    for (unsigned l = 0; l < isa::kLoopDepth; ++l)
      stream.terms.push_back({strides[l], inst.n[l]});
    if (reg != 0) {
      const format::ValueSet &values = info.registers[index][reg];
      stream.base += values.low;
      stream.terms.push_back({values.step, values.count()});
    }
    std::vector<uint64_t> reached;
    addReached(stream, reached);
    std::vector<uint32_t> found;
    for (size_t word = 0; word < reached.size(); ++word)
      for (uint64_t rest = reached[word]; rest != 0; rest &= rest - 1)
        found.push_back(static_cast<uint32_t>(word * 64) +
                        static_cast<uint32_t>(std::countr_zero(rest)));
    return found;
  }

  std::vector<isa::Instruction> list;
  format::SequencerInfo info;
  bool valid = false;
};

Places::Places(const format::Program &program)
    : program(program), inputs({}, program.geometry.lanes, 1),
      outputs({}, program.geometry.lanes, 1), arrivals(program.cores.size()),
      writers(program.cores.size()), moved(program.cores.size() + 1) {
  // What the rows from the host are depends on the model that runs.
  const uint32_t lanes = program.geometry.lanes;
  std::vector<format::HostTensor> all;
  for (const format::Model &model : program.models)
    all.insert(all.end(), model.outputs.begin(), model.outputs.end());
  outputs = Port(std::move(all), lanes, program.models.empty() ? 1 : program.models[0].steps);
  if (program.models.size() == 1)
    inputs = Port(program.models[0].inputs, lanes, program.models[0].steps);
  followInputs();
  for (uint32_t core = 0; core < program.cores.size(); ++core)
    readCore(core);
}

/// Runs the host port's list until it has taken the rows of one inference.
void Places::followInputs() {
  const auto host = static_cast<uint32_t>(program.cores.size());
  const Reader reader(program, host);
  moved[host].resize(reader.list.size());
  if (!reader.valid)
    return;
  std::array<int64_t, isa::kSeqRegs> registers{};
  std::vector<std::pair<size_t, uint32_t>> loops; // first instruction, trips left
  uint32_t number = 0;
  const uint32_t rows = inputs.rows();
  uint64_t followed = 0;
  for (size_t i = 0; i < reader.list.size() && number < rows && followed < kFollowed;
       ++i, ++followed) {
    if (const auto *loop = std::get_if<isa::Loop>(&reader.list[i])) {
      loops.emplace_back(i, loop->count);
    } else if (std::holds_alternative<isa::Endloop>(reader.list[i])) {
      if (--loops.back().second != 0)
        i = loops.back().first;
      else
        loops.pop_back();
    } else if (const auto *set = std::get_if<isa::Setreg>(&reader.list[i])) {
      registers[set->index] = set->imm;
    } else if (const auto *add = std::get_if<isa::Addreg>(&reader.list[i])) {
      registers[add->index] += add->imm;
    } else if (const auto *input = std::get_if<isa::Input>(&reader.list[i]);
               input && input->skip == 0) {
      uint64_t beats = 1;
      for (const uint32_t trips : input->n)
        beats *= trips;
      const uint32_t first = number;
      for (uint64_t beat = 0; beat < beats && number < rows; ++beat, ++number) {
        int64_t at = registers[input->dstReg];
        uint64_t rest = beat;
        for (unsigned l = isa::kLoopDepth; l-- > 0; rest /= input->n[l])
          at += int64_t{input->dstStride[l]} * static_cast<int64_t>(rest % input->n[l]);
        const uint32_t address = ringAddress(input->dst, at, input->dstRing, 18);
        for (uint32_t core = 0; core < host; ++core)
          if ((input->mask >> core & 1) != 0)
            arrivals[core][address].push_back(number);
      }
      std::vector<Reach> &sends = moved[host][i].sends;
      if (sends.empty())
        sends.push_back({first, number - 1});
      sends.back().last = number - 1;
    }
  }
}

void Places::readCore(uint32_t core) {
  const Reader reader(program, core);
  moved[core].resize(reader.list.size());
  for (uint32_t i = 0; reader.valid && i < reader.list.size(); ++i) {
    Moved &here = moved[core][i];
    const auto reads = [&](const std::vector<uint32_t> &found) {
      here.reads.push_back({found.front(), found.back()});
    };
    if (const auto *mm = std::get_if<isa::Mm>(&reader.list[i]); mm && isa::multiplies(*mm))
      reads(reader.addresses(i, *mm, mm->x, mm->xStride, mm->xReg, mm->xRing, 16));
    const auto *vec = std::get_if<isa::Vec>(&reader.list[i]);
    if (!vec)
      continue;
    if (vec->aSrc == isa::Source::Ram)
      reads(reader.addresses(i, *vec, vec->a, vec->aStride, vec->aReg, vec->aRing, 16));
    if (vec->bEn)
      reads(reader.addresses(i, *vec, vec->b, vec->bStride, vec->bReg, vec->bRing, 16));
    if (vec->cEn)
      reads(reader.addresses(i, *vec, vec->c, vec->cStride, vec->cReg, vec->cRing, 16));
    const bool net = vec->dstKind == isa::Dst::Net;
    if (!net && vec->dstKind != isa::Dst::Local)
      continue;
    const std::vector<uint32_t> written =
        reader.addresses(i, *vec, vec->dst, vec->dstStride, vec->dstReg, vec->dstRing, 18);
    if (net && (vec->mask >> isa::kHostBit & 1) != 0)
      here.gives.push_back({written.front(), written.back()});
    for (uint32_t to = 0; to < program.cores.size(); ++to)
      if (net ? (vec->mask >> to & 1) != 0 : to == core)
        for (const uint32_t address : written)
          writers[to][address].emplace_back(core, i);
  }
}

std::vector<std::string> Places::at(uint32_t core, uint32_t address) const {
  std::vector<std::string> found;
  const auto add = [&](std::string what) {
    if (!what.empty() && std::ranges::find(found, what) == found.end())
      found.push_back(std::move(what));
  };
  if (const auto rows = arrivals[core].find(address); rows != arrivals[core].end())
    for (const uint32_t number : rows->second)
      add(inputs.numbered(number));
  if (const auto by = writers[core].find(address); by != writers[core].end())
    for (const auto &[from, index] : by->second)
      add(describeSource(program, from, index));
  if (!found.empty())
    return found;
  for (const format::StatePlace &place : program.state.places)
    if (place.core == core && place.memory == format::StatePlace::Memory::Rows &&
        address >= place.first && address - place.first < place.rows)
      return {"state"};
  for (const format::RowImage &image : program.cores[core].rows)
    if (address >= image.address &&
        address - image.address < image.lanes.size() / program.geometry.lanes)
      add("constant");
  return found;
}

void Places::addRange(std::vector<std::string> &to, const std::string &first,
                      const std::string &last) const {
  std::string text = first.empty() ? last : first;
  if (!first.empty() && !last.empty() && first != last)
    text += " to " + last;
  if (!text.empty() && std::ranges::find(to, text) == to.end())
    to.push_back(std::move(text));
}

std::string Places::movedBy(uint32_t core, uint32_t instruction) const {
  if (instruction >= moved[core].size()) // of the save
    return "";
  const Moved &here = moved[core][instruction];
  const auto named = [&](uint32_t address) {
    std::vector<std::string> names = at(core, address);
    const size_t count = names.size();
    if (count > kNamed) {
      names.resize(kNamed);
      names.push_back(fmt::format("{} others", count - kNamed));
    }
    return fmt::format("{}", fmt::join(names, " or "));
  };
  std::vector<std::string> reads, sends, gives, parts;
  for (const Reach &one : here.reads)
    addRange(reads, named(one.first), named(one.last));
  for (const Reach &one : here.sends)
    addRange(sends, inputs.numbered(one.first), inputs.numbered(one.last));
  for (const Reach &one : here.gives)
    addRange(gives, outputs.addressed(one.first), outputs.addressed(one.last));
  for (const auto &[verb, what] :
       {std::pair("reads", &reads), std::pair("sends", &sends), std::pair("writes", &gives)})
    if (!what->empty())
      parts.push_back(fmt::format("{} {}", verb, fmt::join(*what, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace sluice::device
