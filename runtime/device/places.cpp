#include "runtime/device/places.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/isa/isa.h"
#include "hw/isa/matrix_beats.h"
#include "runtime/device/stall.h"
#include "runtime/format/address_set.h"
#include "runtime/format/sequencer.h"

namespace sluice::device {

Places::Port::Port(std::vector<format::HostTensor> list, uint32_t lanes, uint32_t steps)
    : tensors(std::move(list)), lanes(lanes) {
  std::ranges::sort(tensors, {}, &format::HostTensor::firstRow);
  for (const format::HostTensor &tensor : tensors)
    names.emplace_back(tensor, steps, lanes);
}

uint32_t Places::Port::rows() const {
  uint32_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows += tensor.rows;
  return rows;
}

Held Places::Port::numbered(uint32_t number) const {
  for (size_t i = 0; i < tensors.size(); number -= tensors[i++].rows)
    if (number < tensors[i].rows)
      return {&names[i], false, {number}, ""};
  return {};
}

Held Places::Port::addressed(uint32_t row) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (row >= tensors[i].firstRow && row - tensors[i].firstRow < tensors[i].rows)
      return {&names[i], false, {row - tensors[i].firstRow}, ""};
  return {};
}

std::vector<Places::Port::Slot> Places::Port::slotsOf(const std::string &tensor,
                                                      addressing::IndicesRef index) const {
  std::vector<Slot> found;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const auto slot = tensors[i].name == tensor ? names[i].slotOf(index) : std::nullopt) {
      const auto row = static_cast<uint32_t>(*slot / lanes);
      found.push_back(
          {&names[i], row, tensors[i].firstRow + row, static_cast<uint32_t>(*slot % lanes)});
    }
  return found;
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
      writers(program.cores.size()), computed(program.cores.size()),
      moved(program.cores.size() + 1) {
  // What the rows from the host are depends on the model that runs.
  const uint32_t lanes = program.geometry.lanes;
  std::vector<format::HostTensor> all;
  for (const format::Model &model : program.models)
    all.insert(all.end(), model.outputs.begin(), model.outputs.end());
  outputs = Port(std::move(all), lanes, program.models.empty() ? 1 : program.models[0].steps);
  if (program.models.size() == 1)
    inputs = Port(program.models[0].inputs, lanes, program.models[0].steps);
  followInputs();
  for (const format::ModelTensor &tensor : program.tensors)
    tensors.emplace_back(tensor, lanes);
  for (uint32_t core = 0; core < program.cores.size(); ++core) {
    readCore(core);
    followRows(program, core, [&](const WrittenRow &row) { addRow(row); });
  }
}

/// Rows of a tensor that are evenly apart are one series.
void Places::addRow(const WrittenRow &row) {
  Moved &by = moved[row.core][row.instruction];
  if (row.holds)
    by.computes.add({&tensors[row.holds->tensor], row.holds->partial, {row.holds->row}, ""});
  else
    by.internal = true;
  for (uint32_t to = 0; to < program.cores.size(); ++to) {
    if ((row.cores >> to & 1) == 0)
      continue;
    std::vector<Series> &here = computed[to][row.address][{row.core, row.instruction}];
    if (here.empty() || !here.back().takes(row.holds))
      here.push_back({row.holds, {row.holds ? row.holds->row : 0}});
  }
}

bool Places::Series::takes(const std::optional<ModelRow> &row) {
  if (!row || !begin)
    return row == begin;
  return row->tensor == begin->tensor && row->partial == begin->partial && rows.takes(row->row);
}

bool Places::Series::has(const ModelRow &row) const {
  return begin && row.tensor == begin->tensor && row.partial == begin->partial && rows.has(row.row);
}

Held Places::internalTo(const Instruction &by) const {
  const std::string nodes = describeSource(program, by.first, by.second);
  return {nullptr, false, {}, nodes.empty() ? "" : "internal to " + nodes};
}

/// Runs the host port's list until it has taken the rows of one inference.
void Places::followInputs() {
  const auto host = static_cast<uint32_t>(program.cores.size());
  const Reader reader(program, host);
  moved[host].resize(reader.list.size());
  if (!reader.valid)
    return;
  uint32_t number = 0;
  const uint32_t rows = inputs.rows();
  const auto arrive = [](std::vector<Held> &here, const Held &row) {
    if (here.empty() || here.back().tensor != row.tensor || !here.back().rows.takes(row.rows.first))
      here.push_back(row);
  };
  follow(reader.list, [&](const Moment &moment) {
    const auto *input = std::get_if<isa::Input>(&reader.list[moment.instruction]);
    if (!input || input->skip != 0)
      return number < rows;
    uint64_t beats = 1;
    for (const uint32_t trips : input->n)
      beats *= trips;
    for (uint64_t beat = 0; beat < beats && number < rows; ++beat, ++number) {
      int64_t at = moment.registers[input->dstReg];
      uint64_t rest = beat;
      for (unsigned l = isa::kLoopDepth; l-- > 0; rest /= input->n[l])
        at += int64_t{input->dstStride[l]} * static_cast<int64_t>(rest % input->n[l]);
      const uint32_t address = ringAddress(input->dst, at, input->dstRing, 18);
      const Held row = inputs.numbered(number);
      moved[host][moment.instruction].sends.add(row);
      for (uint32_t core = 0; core < host; ++core)
        if ((input->mask >> core & 1) != 0)
          arrive(arrivals[core][address], row);
    }
    return number < rows;
  });
}

void Places::readCore(uint32_t core) {
  const Reader reader(program, core);
  moved[core].resize(reader.list.size());
  for (uint32_t i = 0; reader.valid && i < reader.list.size(); ++i) {
    Moved &here = moved[core][i];
    const auto reads = [&](std::vector<uint32_t> found) { here.reads.push_back(std::move(found)); };
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
      for (const uint32_t row : written)
        here.gives.add(outputs.addressed(row));
    for (uint32_t to = 0; to < program.cores.size(); ++to)
      if (net ? (vec->mask >> to & 1) != 0 : to == core)
        for (const uint32_t address : written)
          writers[to][address].emplace_back(core, i);
  }
}

std::vector<std::string> Places::at(uint32_t core, uint32_t address) const {
  std::vector<std::string> found;
  std::unordered_set<std::string> known;
  for (const Held &held : turnsAt(core, address))
    for (std::string &name : held.names())
      if (!name.empty() && known.insert(name).second)
        found.push_back(std::move(name));
  return found;
}

/// What is at an address of a core in the course of an inference.
std::vector<Held> Places::turnsAt(uint32_t core, uint32_t address) const {
  std::vector<Held> found;
  if (const auto rows = arrivals[core].find(address); rows != arrivals[core].end())
    found = rows->second;
  if (const auto by = writers[core].find(address); by != writers[core].end())
    for (const Instruction &one : by->second)
      addWritten(found, core, address, one);
  if (!found.empty())
    return found;
  const auto text = [](const char *what) { return Held{nullptr, false, {}, what}; };
  for (const format::StatePlace &place : program.state.places)
    if (place.core == core && place.memory == format::StatePlace::Memory::Rows &&
        address >= place.first && address - place.first < place.rows)
      return {text("state")};
  for (const format::RowImage &image : program.cores[core].rows)
    if (address >= image.address &&
        address - image.address < image.lanes.size() / program.geometry.lanes)
      return {text("constant")};
  return {};
}

/// What an instruction writes to an address of a core.
void Places::addWritten(std::vector<Held> &to, uint32_t core, uint32_t address,
                        const Instruction &by) const {
  const auto add = [&](Held held) {
    if (held.tensor || !held.text.empty())
      to.push_back(std::move(held));
  };
  if (const auto rows = computed[core].find(address); rows != computed[core].end())
    if (const auto written = rows->second.find(by); written != rows->second.end()) {
      for (const Series &one : written->second)
        add(one.begin ? Held{&tensors[one.begin->tensor], one.begin->partial, one.rows, ""}
                      : internalTo(by));
      return;
    }
  // In a later inference, by a register that goes on.
  add({nullptr, false, {}, describeSource(program, by.first, by.second)});
}

std::vector<Places::Spot> Places::of(const std::string &tensor,
                                     addressing::IndicesRef index) const {
  std::vector<Spot> found;
  const auto lanes = static_cast<int64_t>(program.geometry.lanes);
  const auto received = inputs.slotsOf(tensor, index);
  std::vector<std::pair<uint32_t, int64_t>> slots; // tensor, row * lanes + lane
  for (uint32_t i = 0; i < tensors.size(); ++i)
    if (const auto slot = tensors[i].name() == tensor ? tensors[i].slotOf(index) : std::nullopt)
      slots.emplace_back(i, *slot);
  for (uint32_t core = 0; core < program.cores.size(); ++core) {
    std::vector<Spot> here;
    for (const auto &[address, rows] : arrivals[core])
      for (const Port::Slot &slot : received)
        if (std::ranges::any_of(rows, [&slot](const Held &one) {
              return one.tensor == slot.tensor && one.rows.has(slot.row);
            }))
          here.push_back({core, address, slot.lane});
    for (const auto &[address, written] : computed[core])
      for (const auto &[by, rows] : written)
        for (const auto &[i, slot] : slots)
          if (std::ranges::any_of(rows,
                                  [row = ModelRow{i, false, static_cast<uint32_t>(slot / lanes)}](
                                      const Series &one) { return one.has(row); }))
            here.push_back({core, address, static_cast<uint32_t>(slot % lanes)});
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

std::vector<Places::OutputSpot> Places::sentAs(const std::string &tensor,
                                               addressing::IndicesRef index) const {
  std::vector<OutputSpot> found;
  for (const Port::Slot &slot : outputs.slotsOf(tensor, index))
    found.push_back({slot.address, slot.lane});
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

std::string Places::movedBy(uint32_t core, uint32_t instruction) const {
  if (instruction >= moved[core].size()) // of the save
    return "";
  const Moved &here = moved[core][instruction];
  std::vector<std::string> reads, parts;
  for (const std::vector<uint32_t> &addresses : here.reads) {
    Contents contents;
    for (const uint32_t address : addresses)
      contents.addTurns(turnsAt(core, address));
    if (std::string text = contents.text();
        !text.empty() && std::ranges::find(reads, text) == reads.end())
      reads.push_back(std::move(text));
  }
  Contents writes = here.gives.empty() ? here.computes : here.gives;
  if (here.internal && here.gives.empty())
    writes.add(internalTo({core, instruction}));
  for (const auto &[verb, what] :
       {std::pair("reads", fmt::format("{}", fmt::join(reads, ", "))),
        std::pair("sends", here.sends.text()), std::pair("writes", writes.text())})
    if (!what.empty())
      parts.push_back(fmt::format("{} {}", verb, what));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace sluice::device
