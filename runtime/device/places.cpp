#include "runtime/device/places.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/isa/isa.h"
#include "hw/isa/matrix_beats.h"
#include "runtime/device/stall.h"
#include "runtime/format/address_set.h"
#include "runtime/format/sequencer.h"

namespace sluice::device {
namespace {

/// More things than this in one place are counted.
constexpr size_t kNamed = 4;

} // namespace

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

std::string Places::Port::numbered(uint32_t number) const {
  for (size_t i = 0; i < tensors.size(); number -= tensors[i++].rows)
    if (number < tensors[i].rows)
      return names[i].of(number);
  return "";
}

std::string Places::Port::addressed(uint32_t row) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (row >= tensors[i].firstRow && row - tensors[i].firstRow < tensors[i].rows)
      return names[i].of(row - tensors[i].firstRow);
  return "";
}

std::vector<std::pair<uint32_t, uint32_t>>
Places::Port::slotsOf(const std::string &tensor, addressing::IndicesRef index) const {
  std::vector<std::pair<uint32_t, uint32_t>> found;
  uint32_t number = 0;
  for (size_t i = 0; i < tensors.size(); number += tensors[i++].rows)
    if (const auto slot = tensors[i].name == tensor ? names[i].slotOf(index) : std::nullopt)
      found.emplace_back(number + static_cast<uint32_t>(*slot / lanes),
                         static_cast<uint32_t>(*slot % lanes));
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
  if (row.holds)
    addTo(moved[row.core][row.instruction].computes, *row.holds);
  for (uint32_t to = 0; to < program.cores.size(); ++to) {
    if ((row.cores >> to & 1) == 0)
      continue;
    std::vector<Series> &here = computed[to][row.address];
    const auto same = std::ranges::find_if(here.rbegin(), here.rend(), [&](const Series &one) {
      return one.by == Instruction(row.core, row.instruction);
    });
    if (same != here.rend() && same->takes(row.holds))
      continue;
    here.push_back({{row.core, row.instruction}, row.holds});
  }
}

bool Places::Series::takes(const std::optional<ModelRow> &row) {
  if (!row || !begin)
    return row == begin;
  if (row->tensor != begin->tensor || row->partial != begin->partial)
    return false;
  const int64_t next = int64_t{row->row} - (begin->row + (count - 1) * step);
  if (next == 0 && count == 1)
    return true; // the same again
  if (count > 1 && next != step)
    return false;
  step = next;
  ++count;
  return true;
}

/// From the first to the last that is written of each tensor.
void Places::addTo(std::vector<Span> &spans, const ModelRow &row) {
  for (Span &span : spans)
    if (span.first.tensor == row.tensor && span.first.partial == row.partial) {
      span.last = row.row;
      return;
    }
  spans.push_back({row, row.row});
}

std::string Places::textOf(const Series &series) const {
  if (!series.begin) {
    const std::string nodes = describeSource(program, series.by.first, series.by.second);
    return nodes.empty() ? "" : "internal to " + nodes;
  }
  std::string rows = tensors[series.begin->tensor].of(series.begin->row, series.step, series.count);
  if (!series.begin->partial)
    return rows;
  return (series.count == 1 ? "partial sum of " : "partial sums of ") + rows;
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
  follow(reader.list, [&](const Moment &moment) {
    const auto *input = std::get_if<isa::Input>(&reader.list[moment.instruction]);
    if (!input || input->skip != 0)
      return number < rows;
    uint64_t beats = 1;
    for (const uint32_t trips : input->n)
      beats *= trips;
    const uint32_t first = number;
    for (uint64_t beat = 0; beat < beats && number < rows; ++beat, ++number) {
      int64_t at = moment.registers[input->dstReg];
      uint64_t rest = beat;
      for (unsigned l = isa::kLoopDepth; l-- > 0; rest /= input->n[l])
        at += int64_t{input->dstStride[l]} * static_cast<int64_t>(rest % input->n[l]);
      const uint32_t address = ringAddress(input->dst, at, input->dstRing, 18);
      for (uint32_t core = 0; core < host; ++core)
        if ((input->mask >> core & 1) != 0)
          arrivals[core][address].push_back(number);
    }
    std::vector<Reach> &sends = moved[host][moment.instruction].sends;
    if (sends.empty())
      sends.push_back({first, number - 1});
    sends.back().last = number - 1;
    return number < rows;
  });
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
    for (const Instruction &one : by->second)
      for (const std::string &text : writtenBy(core, address, one))
        add(text);
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

/// What an instruction writes to an address of a core.
std::vector<std::string> Places::writtenBy(uint32_t core, uint32_t address,
                                           const Instruction &by) const {
  std::vector<std::string> found;
  if (const auto rows = computed[core].find(address); rows != computed[core].end())
    for (const Series &one : rows->second)
      if (one.by == by)
        found.push_back(textOf(one));
  if (found.empty()) // in a later inference, by a register that goes on
    found.push_back(describeSource(program, by.first, by.second));
  return found;
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
    for (const auto &[address, numbers] : arrivals[core])
      for (const auto &[number, lane] : received)
        if (std::ranges::find(numbers, number) != numbers.end())
          here.push_back({core, address, lane});
    for (const auto &[address, rows] : computed[core])
      for (const auto &[i, slot] : slots)
        if (std::ranges::any_of(rows,
                                [&, row = ModelRow{i, false, static_cast<uint32_t>(slot / lanes)}](
                                    const Series &one) { return one.has(row); }))
          here.push_back({core, address, static_cast<uint32_t>(slot % lanes)});
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

bool Places::Series::has(const ModelRow &row) const {
  if (!begin || row.tensor != begin->tensor || row.partial != begin->partial)
    return false;
  const int64_t way = int64_t{row.row} - begin->row;
  return step == 0 ? way == 0 : way % step == 0 && way / step >= 0 && way / step < count;
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
  for (const Span &one : here.computes) {
    const RowNames &rows = tensors[one.first.tensor];
    const bool single = one.first.row == one.last;
    const std::string first = rows.of(one.first.row);
    const std::string kind = !one.first.partial ? ""
                             : single           ? "partial sum of "
                                                : "partial sums of ";
    if (here.gives.empty())
      addRange(gives, kind + first, single ? "" : rows.of(one.last));
  }
  for (const auto &[verb, what] :
       {std::pair("reads", &reads), std::pair("sends", &sends), std::pair("writes", &gives)})
    if (!what->empty())
      parts.push_back(fmt::format("{} {}", verb, fmt::join(*what, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace sluice::device
