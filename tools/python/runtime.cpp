// The Python module sluice._runtime: programs, engines and jobs of the C API, with NumPy arrays.
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "runtime/api/sluice_rt.h"
#include "runtime/format/host_type.h"

namespace py = pybind11;

namespace sluice::python {
namespace {

/// An empty struct of the C API, for the library to fill.
template <typename T> T sized() {
  T value{};
  value.size = sizeof(T);
  return value;
}

/// A status that is an error; sluice.errors says which exception it becomes.
struct Failure {
  sluice_rt_status status;
  std::string code, message;
};

void check(sluice_rt_status status) {
  if (status != SLUICE_RT_OK)
    throw Failure{status, sluice_rt_last_error_code(), sluice_rt_last_error()};
}

/// Without the interpreter's lock; the error is taken before another thread can run.
template <typename Body> void checkUnlocked(Body body) {
  const py::gil_scoped_release unlocked;
  check(body());
}

/// A loaded program; arrays are checked against its ports by the C API.
class Program {
public:
  explicit Program(const py::bytes &bytes) {
    const auto data = static_cast<std::string_view>(bytes);
    sluice_rt_program *raw = nullptr;
    check(sluice_rt_program_load_buffer(data.data(), data.size(), &raw));
    program = {raw, sluice_rt_program_release};
  }

  const sluice_rt_program *get() const { return program.get(); }

  py::dict machine() const {
    auto info = sized<sluice_rt_machine>();
    check(sluice_rt_program_machine(get(), &info));
    py::dict found;
    found["target"] = info.target;
    found["cores"] = info.cores;
    found["lanes"] = info.lanes;
    found["clock_mhz"] = info.clock_mhz;
    return found;
  }

  py::list models() const {
    uint32_t count = 0;
    check(sluice_rt_program_models(get(), &count));
    py::list found;
    for (uint32_t model = 0; model < count; ++model) {
      auto info = sized<sluice_rt_model_info>();
      check(sluice_rt_program_model(get(), model, &info));
      py::dict entry;
      entry["name"] = info.name;
      entry["macs"] = info.macs;
      entry["parameters"] = info.parameters;
      entry["inputs"] = ports(model, info.inputs, sluice_rt_program_input);
      entry["outputs"] = ports(model, info.outputs, sluice_rt_program_output);
      found.append(entry);
    }
    return found;
  }

private:
  py::list ports(uint32_t model, uint32_t count, decltype(sluice_rt_program_input) query) const {
    py::list found;
    for (uint32_t i = 0; i < count; ++i) {
      auto info = sized<sluice_rt_tensor_info>();
      check(query(get(), model, i, &info));
      py::tuple shape(info.rank);
      for (uint32_t axis = 0; axis < info.rank; ++axis)
        shape[axis] = info.shape[axis];
      // NumPy has no bfloat16; float32 has all its numbers.
      const auto type = static_cast<format::HostType>(info.type);
      const auto dtype = type == format::HostType::BFloat16 ? format::HostType::Float32 : type;
      found.append(py::make_tuple(info.name, shape, info.data_dim,
                                  py::dtype(std::string(format::nameOf(dtype)))));
    }
    return found;
  }

  std::shared_ptr<sluice_rt_program> program;
};

/// The type of an array's elements; its elements must lie one behind the other.
sluice_rt_type typeOf(const py::array &array) {
  if ((array.flags() & py::array::c_style) == 0)
    throw Failure{SLUICE_RT_INVALID_ARGUMENT, "E0604", "the array is not contiguous"};
  const std::string name = py::str(array.dtype());
  for (auto type = format::HostType::Float32; type <= format::kLastHostType;
       type = static_cast<format::HostType>(static_cast<int>(type) + 1))
    if (name == format::nameOf(type))
      return static_cast<sluice_rt_type>(type);
  throw Failure{SLUICE_RT_INVALID_ARGUMENT, "E0604",
                "the array has elements of type " + name + ", allowed: real numbers"};
}

/// A job and what it writes to, which must live until it has ended.
struct Pending {
  std::shared_ptr<sluice_rt_job> job;
  py::list outputs;
};

/// An engine and its jobs. Closes before it lets go of what jobs write to.
struct Open {
  ~Open() {
    PyThreadState *const thread = PyEval_SaveThread(); // gil_scoped_release may throw
    sluice_rt_device_close(device);
    PyEval_RestoreThread(thread);
    pending.clear();
  }
  sluice_rt_device *device = nullptr;
  std::deque<std::shared_ptr<Pending>> pending; ///< guarded by the interpreter's lock
};

class Job {
public:
  explicit Job(std::shared_ptr<Pending> pending) : pending(std::move(pending)) {}

  bool done() const { return sluice_rt_job_poll(pending->job.get()) != SLUICE_RT_PENDING; }

  /// Other threads run meanwhile, and a signal (Ctrl-C) ends it.
  void wait() const {
    constexpr uint32_t kSignalMs = 50;
    const std::shared_ptr<sluice_rt_job> job = pending->job;
    bool waiting = true;
    while (waiting) {
      checkUnlocked([&] {
        const sluice_rt_status status = sluice_rt_job_wait_for(job.get(), kSignalMs);
        waiting = status == SLUICE_RT_PENDING;
        return waiting ? SLUICE_RT_OK : status;
      });
      if (waiting && PyErr_CheckSignals() != 0)
        throw py::error_already_set();
    }
  }

  py::tuple cycles() const {
    auto cycles = sized<sluice_rt_job_cycles>();
    check(sluice_rt_job_cycles_of(pending->job.get(), &cycles));
    return py::make_tuple(cycles.first_input, cycles.last_output, cycles.latency, cycles.interval);
  }

private:
  std::shared_ptr<Pending> pending;
};

class Engine {
public:
  Engine(const std::string &name, const Program &program, int pacing, uint64_t stallLimit)
      : open(std::make_shared<Open>()) {
    check(sluice_rt_device_open(name.c_str(), &open->device));
    check(sluice_rt_device_set_pacing(open->device, static_cast<sluice_rt_pacing>(pacing)));
    check(sluice_rt_device_set_stall_limit(open->device, stallLimit));
    checkUnlocked([&] { return sluice_rt_device_load(open->device, program.get()); });
  }

  Job submit(uint32_t model, const std::vector<py::array> &inputs, const py::list &outputs) {
    const std::shared_ptr<Open> engine = opened();
    std::vector<sluice_rt_input> in;
    for (const py::array &array : inputs)
      in.push_back({sizeof(sluice_rt_input), array.data(), static_cast<size_t>(array.nbytes()),
                    typeOf(array)});
    std::vector<sluice_rt_output> out;
    for (const py::handle &item : outputs) {
      auto array = py::cast<py::array>(item);
      if (!array.writeable())
        throw Failure{SLUICE_RT_INVALID_ARGUMENT, "E0604", "the array is read-only"};
      out.push_back({sizeof(sluice_rt_output), array.mutable_data(),
                     static_cast<size_t>(array.nbytes()), typeOf(array)});
    }
    // The first may be one that another thread is about to submit.
    while (!engine->pending.empty() && engine->pending.front()->job &&
           sluice_rt_job_poll(engine->pending.front()->job.get()) != SLUICE_RT_PENDING)
      engine->pending.pop_front();
    auto pending = std::make_shared<Pending>();
    pending->outputs = outputs;
    engine->pending.push_back(pending); // before the job begins to write
    sluice_rt_job *raw = nullptr;
    try {
      checkUnlocked([&] {
        return sluice_rt_submit(engine->device, model, in.data(), static_cast<uint32_t>(in.size()),
                                out.data(), static_cast<uint32_t>(out.size()), nullptr, &raw);
      });
    } catch (...) {
      std::erase(engine->pending, pending);
      throw;
    }
    pending->job = {raw, sluice_rt_job_release};
    return Job(pending);
  }

  void reset() {
    const std::shared_ptr<Open> engine = opened();
    checkUnlocked([&] { return sluice_rt_device_reset(engine->device); });
  }

  py::bytes saveState(const Program &program) {
    const std::shared_ptr<Open> engine = opened();
    size_t size = 0;
    check(sluice_rt_program_state_size(program.get(), &size));
    std::string state(size, '\0');
    checkUnlocked([&] { return sluice_rt_device_save_state(engine->device, state.data(), size); });
    return state;
  }

  void restoreState(const py::bytes &bytes) {
    const std::shared_ptr<Open> engine = opened();
    const auto state = static_cast<std::string>(bytes);
    checkUnlocked(
        [&] { return sluice_rt_device_restore_state(engine->device, state.data(), state.size()); });
  }

  void hold(bool on) {
    const std::shared_ptr<Open> engine = opened();
    checkUnlocked([&] { return sluice_rt_device_hold(engine->device, on ? 1 : 0); });
  }

  py::dict counters() const {
    const std::shared_ptr<Open> engine = opened();
    auto counters = sized<sluice_rt_counters>();
    checkUnlocked([&] { return sluice_rt_device_counters(engine->device, &counters); });
    py::dict found;
    found["cycles"] = counters.cycles;
    found["input_rows"] = counters.input_rows;
    found["output_rows"] = counters.output_rows;
    found["jobs_submitted"] = counters.jobs_submitted;
    found["jobs_completed"] = counters.jobs_completed;
    found["switch_cycles"] = counters.switch_cycles;
    return found;
  }

  /// Cancels what is pending, once no other call uses it any more.
  void close() { open.reset(); }

private:
  std::shared_ptr<Open> opened() const {
    if (!open)
      throw Failure{SLUICE_RT_INVALID_ARGUMENT, "E0604", "the engine is closed"};
    return open;
  }

  std::shared_ptr<Open> open;
};

void translate(std::exception_ptr thrown) {
  try {
    if (thrown)
      std::rethrow_exception(thrown);
  } catch (const Failure &failure) {
    const py::object error =
        py::module_::import("sluice.errors")
            .attr("of_status")(static_cast<int>(failure.status), failure.code, failure.message);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  }
}

} // namespace

PYBIND11_MODULE(_runtime, module) {
  py::register_exception_translator(translate);
  py::class_<Program>(module, "Program")
      .def(py::init<const py::bytes &>())
      .def("machine", &Program::machine)
      .def("models", &Program::models);
  py::class_<Job>(module, "Job")
      .def("done", &Job::done)
      .def("wait", &Job::wait)
      .def("cycles", &Job::cycles);
  py::class_<Engine>(module, "Engine")
      .def(py::init<const std::string &, const Program &, int, uint64_t>())
      .def("submit", &Engine::submit)
      .def("reset", &Engine::reset)
      .def("save_state", &Engine::saveState)
      .def("restore_state", &Engine::restoreState)
      .def("hold", &Engine::hold)
      .def("counters", &Engine::counters)
      .def("close", &Engine::close);
  module.attr("version") = SLUICE_VERSION;
}

} // namespace sluice::python
