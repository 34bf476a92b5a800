// A session: a loaded program on an engine, and its jobs. One thread clocks the machine while jobs
// are pending; no other thread accesses the machine during that time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/device/recorder.h"
#include "runtime/format/program.h"

namespace sluice::runtime {

/// The state of a job.
enum class JobState : uint8_t { Pending, Done, Stalled, Fault, Cancelled, Internal };

/// The outcome of saving or restoring the state.
struct StateResult {
  size_t pending = 0;              ///< if not 0, nothing was done because so many jobs are pending
  JobState state = JobState::Done; ///< Done, or the reason why the machine is unusable
  std::string error;
};

/// The time at which the host offers the first row of a job (sluice_rt_pacing).
enum class Pacing : uint8_t { Queued, Contiguous, Spaced };

/// The array that receives an output when a job completes.
struct OutputArray {
  void *data = nullptr;
  format::HostType type = format::HostType::Float32;
};

/// One inference, or a reset. The fields above the line do not change after submit. The other
/// fields belong to the thread of the session while `state` is Pending.
struct Job {
  bool isReset = false; ///< has neither inputs nor outputs
  uint32_t model = 0;
  Pacing pacing = Pacing::Queued;
  std::vector<uint16_t> inputRows; ///< in the order in which they are offered
  std::vector<OutputArray> outputs;
  void *context = nullptr;
  // ------------------------------------------------------------------------
  uint64_t rowsTaken = 0;
  std::vector<std::vector<uint16_t>> outputRows; ///< one per output
  uint64_t rowsMissing = 0;
  uint64_t firstInput = 0;
  uint64_t lastOutput = 0;
  uint64_t interval = 0;
  JobState state = JobState::Pending; ///< guarded by the mutex of the session
  bool wanted = true;                 ///< nextEnded may return it; guarded by the same mutex
  std::string error;                  ///< the message if `state` is neither Pending nor Done
};
using JobPtr = std::shared_ptr<Job>;

struct Counters {
  uint64_t cycles = 0;
  uint64_t inputRows = 0;
  uint64_t outputRows = 0;
  uint64_t jobsSubmitted = 0;
  uint64_t jobsCompleted = 0;
  uint64_t switchCycles = 0; ///< of the last reset, save or restore; 0 after a load
};

class Session {
public:
  /// Loads the program into the engine and starts it.
  Session(std::unique_ptr<device::Device> engine, std::shared_ptr<const format::Program> program,
          uint64_t stallLimit);
  ~Session() { close(); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const format::Program &program() const { return *loaded; }

  /// Submits a job. The fields above the line must be set.
  void submit(const JobPtr &job);

  /// Stops the clock between hold and resume; jobs submitted meanwhile start together. Calls nest.
  void hold();
  void resume();

  /// Stops the thread and cancels all pending jobs; later jobs are cancelled at once. Handles of
  /// jobs may outlive the session.
  void close();

  /// Whether this process is a fork of the process that made the session. The thread does not exist
  /// here, so no other function may be called, and the session must not be destroyed.
  bool isForeign() const { return getpid() != owner; }

  /// Cancels all jobs and restarts with the initial state. Loads the program again if the machine
  /// was unusable.
  void reset();

  /// Waits until the machine is at rest, reads its state as an image (runtime/format/state.h) and
  /// restarts with this state. The program must have an entry that saves its state.
  StateResult save(std::vector<uint16_t> &image);
  /// Restarts with the state in an image.
  StateResult restore(std::span<const uint16_t> image);

  JobState state(const Job &job);
  JobState wait(const Job &job);
  /// Returns Pending if the job has not ended after `milliseconds`.
  JobState waitFor(const Job &job, uint32_t milliseconds);

  /// Returns the next ended job that it has not returned before; null after `milliseconds`.
  JobPtr nextEnded(uint32_t milliseconds);
  /// Excludes a job from nextEnded, because the user released its handle.
  void forget(const JobPtr &job);

  Counters counters();
  /// Returns the counters of all units at one moment.
  std::vector<device::UnitCounters> unitCounters();

  /// Starts or stops the recording of the activities of the units, and discards the record so far.
  void record(bool on);
  /// Returns the record since the call of `record` or the last reset.
  std::vector<device::Span> recorded();

private:
  /// The output row of a model at an output address.
  struct RowTarget {
    uint32_t model = 0, output = 0, row = 0;
    bool used = false;
  };

  void begin(uint64_t switchCycles);
  StateResult stateResult() const;
  bool comeToRest();
  bool readState(std::vector<uint16_t> &image, uint64_t &cycles);
  void breakDown(JobState state, std::string why);
  template <typename Body> auto parked(Body body);
  void work();
  void runBatch();
  bool runReset();
  uint32_t stepsOf(const Job &job) const { return loaded->models[job.model].steps; }
  uint64_t now() const { return elapsed + engine->cycle(); }
  void beginAnew();
  bool mayOffer(const Job &job) const;
  void takeRow(const device::OutputRow &row, uint64_t cycle);
  bool isComplete(const Job &job) const;
  bool finishComplete();
  void finish(const JobPtr &job);
  void updateCounters();
  void endAll(JobState state, const std::string &error);
  void end(const JobPtr &job, JobState state, const std::string &error);
  void publish(const JobPtr &job, JobState state);

  std::unique_ptr<device::Device> engine;
  std::shared_ptr<const format::Program> loaded;
  const uint64_t stallLimit;
  const std::vector<uint16_t> initialState;
  std::vector<RowTarget> rowTargets; ///< by output row address

  // The thread's own, and of others only while it is parked.
  std::deque<JobPtr> toOffer; ///< resets, and jobs whose inputs are not fully taken, in order of
                              ///< submission
  std::vector<std::deque<JobPtr>> running; ///< inferences not complete, by model, oldest first
  size_t pending = 0;                      ///< jobs in `running`, and resets in `toOffer`
  uint64_t rowsIn = 0, rowsOut = 0;
  uint64_t elapsed = 0; ///< cycles before the engine's cycle 0: it restarts between inferences of
                        ///< several steps, and for resets in the queue
  std::vector<device::UnitCounters> spent; ///< of the units, in those cycles
  bool fresh = true;                       ///< no row has been offered since the engine's cycle 0
  std::vector<uint64_t> arrivals;          ///< by output row address
  std::vector<uint64_t> completed;         ///< jobs, by model
  uint64_t quiet = 0;                      ///< cycles without progress
  uint64_t previousOutput = 0;             ///< cycle of the last completion
  bool anyCompleted = false;
  std::optional<device::Recorder> recorder;
  std::string broken; ///< why the machine can no longer be used
  JobState brokenState = JobState::Pending;

  std::mutex mutex; // guards what follows
  std::condition_variable wake, changed;
  std::deque<JobPtr> incoming;
  std::deque<JobPtr> ended;
  Counters count;
  unsigned holds = 0;
  bool stepping = false;
  bool stopping = false;
  const pid_t owner = getpid();
  std::mutex closing; ///< one closes, the others wait
  std::thread thread; // last: it uses all of the above
};

} // namespace sluice::runtime
