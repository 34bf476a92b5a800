#include "runtime/api/session.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

#include "runtime/api/packing.h"
#include "runtime/device/stall.h"
#include "runtime/format/state.h"

namespace sluice::runtime {
namespace {

/// Cycles between two looks at what other threads want.
constexpr unsigned kBatch = 256;

/// Cycles without progress after which nothing is left to do: more than the
/// longest way through a core and the network takes.
constexpr uint64_t kRest = 128;

/// What an inference does behind its outputs ends before that many cycles.
constexpr uint64_t kLongestRest = uint64_t{1} << 24;

constexpr const char *kClosed = "the device was closed or loaded with another program";

} // namespace

Session::Session(std::unique_ptr<device::Device> device,
                 std::shared_ptr<const format::Program> program, uint64_t stallLimit)
    : engine(std::move(device)), loaded(std::move(program)), stallLimit(stallLimit),
      initialState(format::initialState(*loaded)) {
  for (uint32_t m = 0; m < loaded->models.size(); ++m)
    for (uint32_t o = 0; o < loaded->models[m].outputs.size(); ++o) {
      const format::HostTensor &tensor = loaded->models[m].outputs[o];
      if (rowTargets.size() < tensor.firstRow + tensor.rows)
        rowTargets.resize(tensor.firstRow + tensor.rows);
      for (uint32_t row = 0; row < tensor.rows; ++row)
        rowTargets[tensor.firstRow + row] = {m, o, row, true};
    }
  engine->load(*loaded);
  begin(0);
  thread = std::thread([this] { work(); });
}

void Session::close() {
  if (isForeign())
    return;
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  const std::lock_guard closeLock(closing);
  if (thread.joinable())
    thread.join();
  const std::lock_guard lock(mutex);
  endAll(JobState::Cancelled, kClosed);
}

/// The machine has been started anew.
void Session::begin(uint64_t switchCycles) {
  if (recorder)
    recorder.emplace();
  arrivals.assign(rowTargets.size(), 0);
  completed.assign(loaded->models.size(), 0);
  running.assign(loaded->models.size(), {});
  pending = 0;
  rowsIn = rowsOut = 0;
  elapsed = 0;
  spent.clear();
  fresh = true;
  quiet = 0;
  previousOutput = 0;
  anyCompleted = false;
  broken.clear();
  brokenState = JobState::Pending;
  count = {.switchCycles = switchCycles};
}

void Session::submit(const JobPtr &job) {
  if (!job->isReset) {
    const format::Model &model = loaded->models[job->model];
    for (const format::HostTensor &tensor : model.outputs) {
      const uint32_t parts = tensor.stepAxis ? model.steps : 1; // without parts the last step's
      job->outputRows.emplace_back(size_t{tensor.rows} * loaded->geometry.lanes * parts);
      job->rowsMissing += uint64_t{tensor.rows} * model.steps;
    }
  }
  {
    const std::lock_guard lock(mutex);
    ++count.jobsSubmitted;
    // The others are close()'s: the thread may still work on them.
    if (stopping)
      end(job, JobState::Cancelled, kClosed);
    else
      incoming.push_back(job);
  }
  wake.notify_all();
}

void Session::hold() {
  std::unique_lock lock(mutex);
  ++holds;
  changed.wait(lock, [&] { return !stepping; });
}

void Session::resume() {
  {
    const std::lock_guard lock(mutex);
    if (holds > 0)
      --holds;
  }
  wake.notify_all();
}

/// Runs `body`, which may use all members, while the clock stands.
template <typename Body> auto Session::parked(Body body) {
  hold();
  struct Resume {
    Session &session;
    ~Resume() { session.resume(); }
  } const after{*this};
  const std::lock_guard lock(mutex);
  return body();
}

void Session::reset() {
  parked([&] {
    endAll(JobState::Cancelled, "the device was reset");
    uint64_t cycles = 0;
    if (brokenState == JobState::Pending)
      cycles = engine->restart({}, initialState);
    else
      engine->load(*loaded);
    begin(cycles);
  });
}

StateResult Session::save(std::vector<uint16_t> &image) {
  return parked([&] {
    const StateResult found = stateResult();
    if (found.pending != 0 || found.state != JobState::Done || !comeToRest())
      return stateResult();
    uint64_t cycles = engine->restart(loaded->state.save, {});
    if (readState(image, cycles))
      begin(cycles + engine->restart({}, {}));
    return stateResult();
  });
}

StateResult Session::restore(std::span<const uint16_t> image) {
  return parked([&] {
    const StateResult found = stateResult();
    if (found.pending == 0 && found.state == JobState::Done)
      begin(engine->restart({}, image));
    return found;
  });
}

/// How the session stands; the mutex is held.
StateResult Session::stateResult() const {
  if (brokenState != JobState::Pending)
    return {0, brokenState, broken};
  return {incoming.size() + pending, JobState::Done, ""};
}

void Session::breakDown(JobState state, std::string why) {
  broken = std::move(why);
  brokenState = state;
}

/// What an inference does after its last output. False if it does not end.
bool Session::comeToRest() {
  for (uint64_t cycles = 0; quiet < kRest; ++cycles) {
    if (cycles == kLongestRest + stallLimit) {
      breakDown(JobState::Stalled, "the machine does not come to rest between inferences");
      return false;
    }
    quiet = engine->step(nullptr, true).progress ? 0 : quiet + 1;
  }
  return true;
}

/// Takes the rows that the program's save sends, and counts its cycles.
bool Session::readState(std::vector<uint16_t> &image, uint64_t &cycles) {
  const size_t lanes = loaded->geometry.lanes, rows = format::stateRows(loaded->state);
  image.assign(rows * lanes, 0);
  std::vector<bool> arrived(rows);
  quiet = 0;
  for (size_t missing = rows; missing > 0; ++cycles) {
    const device::Device::Cycle done = engine->step(nullptr, true);
    quiet = done.progress ? 0 : quiet + 1;
    if (quiet >= stallLimit) {
      breakDown(JobState::Stalled, device::describeStall(*loaded, engine->status(), quiet));
      return false;
    }
    if (!done.output)
      continue;
    const uint32_t row = done.output->address;
    if (row >= rows || arrived[row]) {
      breakDown(JobState::Fault,
                fmt::format("state row {} arrived {}", row,
                            row >= rows ? fmt::format("but the state has {} rows", rows)
                                        : "a second time"));
      return false;
    }
    arrived[row] = true;
    --missing;
    std::ranges::copy(done.output->lanes,
                      image.begin() + static_cast<ptrdiff_t>(size_t{row} * lanes));
  }
  return true;
}

JobState Session::state(const Job &job) {
  const std::lock_guard lock(mutex);
  return job.state;
}

JobState Session::wait(const Job &job) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return job.state != JobState::Pending; });
  return job.state;
}

JobState Session::waitFor(const Job &job, uint32_t milliseconds) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                   [&] { return job.state != JobState::Pending; });
  return job.state;
}

JobPtr Session::nextEnded(uint32_t milliseconds) {
  std::unique_lock lock(mutex);
  if (!changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                        [&] { return !ended.empty(); }))
    return nullptr;
  JobPtr job = ended.front();
  ended.pop_front();
  return job;
}

void Session::forget(const JobPtr &job) {
  if (isForeign())
    return;
  const std::lock_guard lock(mutex);
  std::erase(ended, job);
  job->wanted = false;
}

Counters Session::counters() {
  const std::lock_guard lock(mutex);
  return count;
}

std::vector<device::UnitCounters> Session::unitCounters() {
  return parked([&] { return device::sum(spent, engine->counters()); });
}

void Session::record(bool on) {
  parked([&] {
    recorder.reset();
    if (on)
      recorder.emplace();
  });
}

std::vector<device::Span> Session::recorded() {
  return parked([&] { return recorder ? recorder->spans() : std::vector<device::Span>(); });
}

void Session::work() {
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock,
              [&] { return stopping || (holds == 0 && (!incoming.empty() || pending != 0)); });
    if (stopping)
      return;
    for (const JobPtr &job : incoming) {
      if (!job->isReset)
        running[job->model].push_back(job);
      toOffer.push_back(job);
      ++pending;
    }
    incoming.clear();
    stepping = true;
    lock.unlock();
    std::string failure;
    try {
      runBatch();
    } catch (const std::exception &error) {
      failure = error.what();
    }
    lock.lock();
    if (!failure.empty()) {
      breakDown(JobState::Internal, "the engine failed: " + failure);
    }
    stepping = false;
    updateCounters();
    if (brokenState != JobState::Pending)
      endAll(brokenState, broken);
    changed.notify_all();
  }
}

/// Clocks the machine until a job completes or the batch is over.
void Session::runBatch() {
  const uint64_t lanes = loaded->geometry.lanes;
  for (unsigned i = 0; i < kBatch && pending != 0 && brokenState == JobState::Pending; ++i) {
    while (!toOffer.empty() && !toOffer.front()->isReset &&
           toOffer.front()->rowsTaken * lanes == toOffer.front()->inputRows.size())
      toOffer.pop_front();
    if (runReset())
      return;
    if (!toOffer.empty() && toOffer.front()->rowsTaken == 0 && stepsOf(*toOffer.front()) > 1 &&
        !fresh && pending == toOffer.size())
      beginAnew();
    Job *next = toOffer.empty() || !mayOffer(*toOffer.front()) ? nullptr : toOffer.front().get();
    const uint16_t *row = next ? next->inputRows.data() + next->rowsTaken * lanes : nullptr;
    const uint64_t cycle = now();
    const device::Device::Cycle done =
        recorder ? recorder->step(*engine, elapsed, row, true) : engine->step(row, true);
    quiet = done.progress ? 0 : quiet + 1;
    if (done.inputTaken && next) {
      if (next->rowsTaken++ == 0)
        next->firstInput = cycle;
      ++rowsIn;
      fresh = false;
    }
    if (done.output)
      takeRow(*done.output, cycle);
    if (engine->tokenFault()) {
      breakDown(JobState::Fault, "a token counter exceeded its maximum");
    } else if (quiet >= stallLimit) {
      breakDown(JobState::Stalled, device::describeStall(*loaded, engine->status(), quiet));
    } else if ((done.output || done.inputTaken) && finishComplete()) {
      // Stop at once: then a job that waits for this one is offered in the same
      // cycle, however late it is submitted.
      return;
    }
  }
}

/// Runs a reset at the front of the queue once all jobs before it are complete. Returns whether
/// there was one.
bool Session::runReset() {
  if (toOffer.empty() || !toOffer.front()->isReset || pending != toOffer.size())
    return false;
  const JobPtr job = toOffer.front();
  job->firstInput = now();
  beginAnew();
  job->lastOutput = now();
  toOffer.pop_front();
  --pending;
  const std::lock_guard lock(mutex);
  ++count.jobsCompleted;
  updateCounters();
  publish(job, JobState::Done);
  return true;
}

/// Starts the machine with the initial state again.
void Session::beginAnew() {
  spent = device::sum(spent, engine->counters());
  elapsed += engine->cycle();
  const uint64_t cycles = engine->restart({}, initialState);
  elapsed += cycles;
  arrivals.assign(rowTargets.size(), 0);
  completed.assign(loaded->models.size(), 0);
  quiet = 0;
  fresh = true;
  const std::lock_guard lock(mutex);
  count.switchCycles = cycles;
}

/// Whether a job at the front of `toOffer` may begin (or go on).
bool Session::mayOffer(const Job &job) const {
  if (job.isReset)
    return false;
  if (job.rowsTaken > 0 || (job.pacing == Pacing::Queued && stepsOf(job) == 1))
    return true;
  // Everything submitted before must be complete.
  if (pending != toOffer.size())
    return false;
  return job.pacing != Pacing::Spaced || quiet >= kRest;
}

void Session::takeRow(const device::OutputRow &row, uint64_t cycle) {
  ++rowsOut;
  const RowTarget target = row.address < rowTargets.size() ? rowTargets[row.address] : RowTarget{};
  // The k-th arrival of a row belongs to the k-th job of its model, or to step k of its only one.
  const std::deque<JobPtr> &jobs = running[target.model];
  const uint32_t steps = target.used ? loaded->models[target.model].steps : 1;
  const uint64_t arrival = target.used ? arrivals[row.address]++ : 0;
  const uint64_t index = arrival / steps - completed[target.model];
  if (!target.used || index >= jobs.size()) {
    breakDown(JobState::Fault,
              fmt::format("output row {} arrived, but no pending job expects it", row.address));
    return;
  }
  Job &job = *jobs[index];
  const format::HostTensor &tensor = loaded->models[target.model].outputs[target.output];
  const uint64_t part = tensor.stepAxis ? arrival % steps : 0;
  std::copy_n(
      row.lanes.begin(), loaded->geometry.lanes,
      job.outputRows[target.output].begin() +
          static_cast<ptrdiff_t>((part * tensor.rows + target.row) * loaded->geometry.lanes));
  if (--job.rowsMissing == 0)
    job.lastOutput = cycle;
}

bool Session::isComplete(const Job &job) const {
  return job.rowsMissing == 0 && job.rowsTaken * loaded->geometry.lanes == job.inputRows.size();
}

/// Finishes what is complete, oldest first; whether there was anything.
bool Session::finishComplete() {
  bool any = false;
  for (std::deque<JobPtr> &jobs : running)
    while (!jobs.empty() && isComplete(*jobs.front())) {
      const JobPtr job = jobs.front();
      jobs.pop_front();
      --pending;
      finish(job);
      any = true;
    }
  return any;
}

/// Writes the outputs of a complete job and says so.
void Session::finish(const JobPtr &job) {
  const format::Model &model = loaded->models[job->model];
  for (size_t i = 0; i < model.outputs.size(); ++i)
    unpack(model.outputs[i], loaded->geometry.lanes, job->outputRows[i], job->outputs[i].data,
           job->outputs[i].type, model.steps);
  job->interval = anyCompleted ? job->lastOutput - previousOutput : 0;
  previousOutput = job->lastOutput;
  anyCompleted = true;
  ++completed[job->model];
  const std::lock_guard lock(mutex);
  ++count.jobsCompleted;
  updateCounters();
  publish(job, JobState::Done);
}

/// The mutex is held.
void Session::updateCounters() {
  count.cycles = now();
  count.inputRows = rowsIn;
  count.outputRows = rowsOut;
}

/// Ends every job that has not ended; the mutex is held.
void Session::endAll(JobState state, const std::string &error) {
  auto clear = [&](std::deque<JobPtr> &jobs) {
    for (const JobPtr &job : jobs)
      end(job, state, error);
    jobs.clear();
  };
  for (std::deque<JobPtr> &jobs : running)
    clear(jobs);
  std::erase_if(toOffer, [](const JobPtr &job) { return !job->isReset; }); // they have ended
  clear(toOffer);
  clear(incoming);
  pending = 0;
}

/// Ends a job without outputs; the mutex is held.
void Session::end(const JobPtr &job, JobState state, const std::string &error) {
  job->error = error;
  publish(job, state);
}

/// Makes an end visible; the mutex is held.
void Session::publish(const JobPtr &job, JobState state) {
  job->state = state;
  if (job->wanted)
    ended.push_back(job);
  changed.notify_all();
}

} // namespace sluice::runtime
