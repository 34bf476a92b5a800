/* The Sluice runtime: load a program file, run inferences on an engine.
 *
 * Statuses. Every function that can fail returns a status; sluice_rt_last_error
 * says in words what was wrong. Beside each function stands what it can return;
 * "the common ones" are OK, INVALID_ARGUMENT (a null pointer, an index that is too
 * large, a struct whose size is too small), OUT_OF_MEMORY and INTERNAL.
 *
 * Threads. All functions may be called from any thread, also on the same handle at
 * the same time, except that a handle must not be released while another call uses
 * it, nor be used afterwards.
 *
 * Lifetimes. What a pointer in a struct points to (names, texts, shapes, nodes,
 * cycles) belongs to the handle that the struct was asked of, never changes, and
 * lives until that handle is released. The names of units and activities are
 * constants of the library.
 *
 * Structs. The first member of every struct is its size, which the caller sets to
 * sizeof before the call: sluice_rt_machine machine = {.size = sizeof machine}. A
 * later library may append members; it fills those that the caller's struct has,
 * and a library that is older than the caller's header sets the others to zero. No
 * struct holds an array, and of structs in an array of the caller the size is the
 * distance.
 */
#ifndef SLUICE_RUNTIME_API_SLUICE_RT_H
#define SLUICE_RUNTIME_API_SLUICE_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header: what sluice_rt_api_version of a library must return. */
#define SLUICE_RT_API_VERSION 2

typedef enum sluice_rt_status {
  SLUICE_RT_OK = 0,
  SLUICE_RT_PENDING = 1,          /* not finished yet; nothing is wrong */
  SLUICE_RT_INVALID_ARGUMENT = 2, /* a null handle, a wrong index, size or type */
  SLUICE_RT_BAD_PROGRAM = 3,      /* the program file is unreadable or not valid */
  SLUICE_RT_UNAVAILABLE = 4,      /* this build has no such engine for this geometry */
  SLUICE_RT_STALLED = 5,          /* the machine stopped making progress */
  SLUICE_RT_FAULT = 6,            /* the program did what no program may do */
  SLUICE_RT_CANCELLED = 7,        /* the job was dropped by a reset or a load */
  SLUICE_RT_OUT_OF_MEMORY = 8,
  SLUICE_RT_INTERNAL = 9,
  SLUICE_RT_BAD_STATE = 10 /* a saved state is damaged or of another program */
} sluice_rt_status;

typedef enum sluice_rt_type {
  SLUICE_RT_FLOAT32 = 1,
  SLUICE_RT_BFLOAT16 = 2,
  SLUICE_RT_FLOAT16 = 3,
  SLUICE_RT_FLOAT64 = 4
} sluice_rt_type;

typedef struct sluice_rt_program sluice_rt_program;
typedef struct sluice_rt_device sluice_rt_device;
typedef struct sluice_rt_job sluice_rt_job;

uint32_t sluice_rt_api_version(void);

/* The message of the last call of this thread that did not return OK or PENDING:
 * one sentence, never null, "" if there was none. Lives until the next such call of
 * this thread, or the thread's end. */
const char *sluice_rt_last_error(void);
/* Its code, "E0504" (sluice explain E0504); "" if it has none. Lives as long. */
const char *sluice_rt_last_error_code(void);
/* Bytes of one element; 0 if there is no such type. */
size_t sluice_rt_type_size(sluice_rt_type type);

/* ---- programs ---------------------------------------------------------- */

/* Loads and checks a program file. The buffer needs no alignment and is not kept.
 * The common statuses, and BAD_PROGRAM; *program is null unless OK. */
sluice_rt_status sluice_rt_program_load_file(const char *path, sluice_rt_program **program);
sluice_rt_status sluice_rt_program_load_buffer(const void *data, size_t size,
                                               sluice_rt_program **program);
/* Devices that have loaded the program keep what they need. Null is allowed. */
void sluice_rt_program_release(sluice_rt_program *program);

/* What machine a program is for. */
typedef struct sluice_rt_machine {
  size_t size;
  const char *target; /* "c6b32" */
  uint32_t cores;
  uint32_t lanes;
  uint32_t clock_mhz; /* the clock that microseconds are named at */
} sluice_rt_machine;

typedef struct sluice_rt_model_info {
  size_t size;
  const char *name;
  uint32_t inputs;
  uint32_t outputs;
  uint64_t macs;       /* multiply-accumulates of one inference */
  uint64_t parameters; /* numbers */
} sluice_rt_model_info;

typedef struct sluice_rt_tensor_info {
  size_t size;
  const char *name;
  sluice_rt_type type;  /* of the ONNX model; jobs may use any type */
  uint32_t rank;        /* 0: a scalar */
  const int64_t *shape; /* rank extents, all at least 1 */
  uint32_t data_dim;    /* the dimension along the lanes, the last one of several */
  uint64_t elements;    /* product of the shape */
} sluice_rt_tensor_info;

/* All: the common statuses. The structs' pointers live as long as the program. */
sluice_rt_status sluice_rt_program_machine(const sluice_rt_program *program,
                                           sluice_rt_machine *machine);
sluice_rt_status sluice_rt_program_models(const sluice_rt_program *program, uint32_t *count);
sluice_rt_status sluice_rt_program_model(const sluice_rt_program *program, uint32_t model,
                                         sluice_rt_model_info *info);
sluice_rt_status sluice_rt_program_input(const sluice_rt_program *program, uint32_t model,
                                         uint32_t input, sluice_rt_tensor_info *info);
sluice_rt_status sluice_rt_program_output(const sluice_rt_program *program, uint32_t model,
                                          uint32_t output, sluice_rt_tensor_info *info);

/* ---- instructions ------------------------------------------------------ */

/* The units of a machine. A core has a matrix and a vector unit; the host port,
 * which takes core = number of cores, has the input unit. All have a sequencer and
 * a way into the network. */
typedef enum sluice_rt_unit {
  SLUICE_RT_MATRIX = 0,
  SLUICE_RT_VECTOR = 1,
  SLUICE_RT_INPUT = 2,
  SLUICE_RT_SEQUENCER = 3, /* its instructions: loops, registers, restart */
  SLUICE_RT_NETWORK = 4    /* the FIFO of packets that wait for the network */
} sluice_rt_unit;

/* A node of the source model. */
typedef struct sluice_rt_node_info {
  size_t size;
  int64_t index;    /* position in the ONNX graph, -1 if it has none */
  const char *name; /* may be empty */
  const char *op;   /* "Gemm" */
} sluice_rt_node_info;

typedef struct sluice_rt_instruction_info {
  size_t size;
  const char *text; /* disassembled, one line */
  sluice_rt_unit unit;
  int multiplies;        /* every beat multiplies a weight block */
  uint32_t node_count;   /* nodes it comes from; 0 if of none in particular */
  const uint32_t *nodes; /* their numbers in this program */
  const char *moves;     /* "reads x[0, 0..7] to x[3, 0..7], writes y[0, 0..7]"; may be empty */
} sluice_rt_instruction_info;

/* All: the common statuses. The structs' pointers live as long as the program. */
sluice_rt_status sluice_rt_program_nodes(const sluice_rt_program *program, uint32_t *count);
sluice_rt_status sluice_rt_program_node(const sluice_rt_program *program, uint32_t node,
                                        sluice_rt_node_info *info);
/* Instructions of a core; core = number of cores is the host port. */
sluice_rt_status sluice_rt_program_instructions(const sluice_rt_program *program, uint32_t core,
                                                uint32_t *count);
sluice_rt_status sluice_rt_program_instruction(const sluice_rt_program *program, uint32_t core,
                                               uint32_t instruction,
                                               sluice_rt_instruction_info *info);

/* ---- devices ----------------------------------------------------------- */

/* Opens an engine: "vm", the C++ model of the machine, or "rtl", the Verilated
 * hardware. They give the same bits in the same cycles. The common statuses; *device
 * is null unless OK. */
sluice_rt_status sluice_rt_device_open(const char *name, sluice_rt_device **device);
/* Cancels what is pending. Jobs stay valid until they are released. Null is allowed. */
void sluice_rt_device_close(sluice_rt_device *device);

/* When a job's first row is offered to the machine. */
typedef enum sluice_rt_pacing {
  SLUICE_RT_QUEUED = 0,     /* as soon as the machine takes it: best throughput */
  SLUICE_RT_CONTIGUOUS = 1, /* as soon as the last output row of the job before is out */
  SLUICE_RT_SPACED = 2      /* when the machine has nothing left to do */
} sluice_rt_pacing;

/* Each has a time from which it applies; what is there before goes on as it was.
 * pacing: to jobs that are submitted after this call, with QUEUED before the first.
 * waves: from the next load on; path of an FST file (copied), null for none.
 * stall limit: from the next load on; cycles without progress, at least 256, after
 * which a pending job has stalled, with 10000 before the first call.
 * The common statuses. */
sluice_rt_status sluice_rt_device_set_pacing(sluice_rt_device *device, sluice_rt_pacing pacing);
sluice_rt_status sluice_rt_device_set_waves(sluice_rt_device *device, const char *path);
sluice_rt_status sluice_rt_device_set_stall_limit(sluice_rt_device *device, uint64_t cycles);

/* Puts a program on the machine and starts it; state is at its initial value. Jobs
 * of the program before are cancelled; the program may be released afterwards. The
 * common statuses, and UNAVAILABLE: then nothing has changed. */
sluice_rt_status sluice_rt_device_load(sluice_rt_device *device, const sluice_rt_program *program);
/* Drops all jobs and starts the program anew with its initial state, at cycle 0: resets
 * the machine, which keeps its memories, and writes the rows of the state. Also the way
 * to go on after STALLED or FAULT: then the program is loaded again. The common
 * statuses; INVALID_ARGUMENT also if nothing is loaded. */
sluice_rt_status sluice_rt_device_reset(sluice_rt_device *device);

/* While held (hold != 0) the machine's clock stands; jobs submitted meanwhile all
 * wait in front of the machine when it goes on, so that cycle counts with QUEUED
 * pacing do not depend on how fast the host is. With the other pacings they never
 * do. A load or a reset does not change it. The common statuses. */
sluice_rt_status sluice_rt_device_hold(sluice_rt_device *device, int hold);

typedef struct sluice_rt_counters {
  size_t size;
  uint64_t cycles; /* since load, reset, save or restore, as all that follow; the clock
                      stands while no job is pending */
  uint64_t input_rows;
  uint64_t output_rows;
  uint64_t jobs_submitted;
  uint64_t jobs_completed;
  uint64_t switch_cycles; /* that the last reset, save or restore took, from the machine at
                             rest to cycle 0; 0 after a load */
} sluice_rt_counters;

/* The common statuses; INVALID_ARGUMENT also if nothing is loaded. */
sluice_rt_status sluice_rt_device_counters(const sluice_rt_device *device,
                                           sluice_rt_counters *counters);

/* ---- state --------------------------------------------------------------- */

/* What a program keeps from one inference to the next, as bytes that only programs of
 * the same file take: for several streams over one program, or to go on later, on any
 * engine. */

/* Bytes of a saved state; 0 if the program keeps none. The common statuses. */
sluice_rt_status sluice_rt_program_state_size(const sluice_rt_program *program, size_t *size);

/* Reads the state, as the last inference left it, into a buffer of that size; or puts a
 * state that was read on the machine. Both start the program anew at cycle 0, and what
 * follows gives the same bits as if nothing had come between.
 * No job may be pending. The common statuses; INVALID_ARGUMENT also if nothing is
 * loaded, for another size and while jobs are pending; UNAVAILABLE if the program keeps
 * no state or cannot save it; STALLED, FAULT and INTERNAL if the machine can no longer be
 * used: reset it; and of restore BAD_STATE. Unless OK, nothing has been restored. */
sluice_rt_status sluice_rt_device_save_state(sluice_rt_device *device, void *buffer, size_t size);
sluice_rt_status sluice_rt_device_restore_state(sluice_rt_device *device, const void *buffer,
                                                size_t size);

/* ---- what units do ------------------------------------------------------ */

/* What a unit does in a cycle: exactly one of these. */
typedef enum sluice_rt_activity {
  SLUICE_RT_BUSY = 0,           /* issues a beat of its instruction; sequencer: fetches or
                                   executes; network: a packet is granted */
  SLUICE_RT_WAITS_TOKEN = 1,    /* its instruction waits for a token: data or space */
  SLUICE_RT_WAITS_RESULT = 2,   /* vector unit: for a result of the matrix unit */
  SLUICE_RT_WAITS_TAKER = 3,    /* matrix unit: for room in the result FIFO */
  SLUICE_RT_WAITS_NETWORK = 4,  /* for room in its network FIFO */
  SLUICE_RT_WAITS_PIPELINE = 5, /* vector unit: for its pipeline to drain */
  SLUICE_RT_WAITS_HOST = 6,     /* input unit: for the host to offer a row */
  SLUICE_RT_IDLE = 7,           /* has no instruction; sequencer: has halted; network: has no
                                   packet */
  SLUICE_RT_WAITS_QUEUE = 8,    /* sequencer: for room in a unit's queue */
  SLUICE_RT_WAITS_TURN = 9,     /* network: another core's packet is granted */
  SLUICE_RT_WAITS_OUTPUT = 10   /* network: for the host to take rows */
} sluice_rt_activity;

/* "matrix", "vector", "input", "sequencer", "network"; "" if there is no such unit. */
const char *sluice_rt_unit_name(sluice_rt_unit unit);
/* "busy", "token", "result", "taker", "network", "pipeline", "host", "idle", "queue",
 * "turn", "output"; "" if there is no such activity. */
const char *sluice_rt_activity_name(sluice_rt_activity activity);

/* The counters of all units at one moment: a copy, to be released. They are the
 * machine's own performance counters: engine rtl reads the hardware's. */
typedef struct sluice_rt_unit_counters sluice_rt_unit_counters;

/* How one unit spent the cycles since load, reset, save or restore; they add up to the
 * cycles run. */
typedef struct sluice_rt_unit_cycles {
  size_t size;
  sluice_rt_unit unit;
  uint32_t core;
  uint32_t activities;    /* that this library knows */
  const uint64_t *cycles; /* by activity; lives as long as the counters */
} sluice_rt_unit_cycles;

/* The common statuses; INVALID_ARGUMENT also if nothing is loaded. *counters is null
 * unless OK. */
sluice_rt_status sluice_rt_device_unit_counters(const sluice_rt_device *device,
                                                sluice_rt_unit_counters **counters);
/* The units, by core; the host port comes last. The common statuses. */
sluice_rt_status sluice_rt_unit_counters_units(const sluice_rt_unit_counters *counters,
                                               uint32_t *count);
sluice_rt_status sluice_rt_unit_counters_unit(const sluice_rt_unit_counters *counters,
                                              uint32_t index, sluice_rt_unit_cycles *unit);
/* Null is allowed. */
void sluice_rt_unit_counters_release(sluice_rt_unit_counters *counters);

/* ---- recordings --------------------------------------------------------- */

/* One unit did the same from cycle first to cycle last, both included. */
typedef struct sluice_rt_span {
  size_t size;
  uint64_t first;
  uint64_t last;
  uint32_t core;
  sluice_rt_unit unit;
  sluice_rt_activity activity;
  uint32_t instruction; /* index of the active instruction; 0 if IDLE */
} sluice_rt_span;

typedef struct sluice_rt_recording sluice_rt_recording;

/* Records from this call on (record != 0) what every unit does in every cycle, or
 * stops to; either way, what was recorded is forgotten. A load, reset, save or restore
 * forgets it too, and recording goes on; a program need not be loaded yet. It slows an engine
 * down, and changes no cycle. The common statuses. */
sluice_rt_status sluice_rt_device_record(sluice_rt_device *device, int record);
/* A copy of what has been recorded, to be released. The common statuses;
 * INVALID_ARGUMENT also if nothing is loaded or the device does not record. *recording
 * is null unless OK. */
sluice_rt_status sluice_rt_device_recording(const sluice_rt_device *device,
                                            sluice_rt_recording **recording);
/* Its spans: by core, then by unit, then by cycle. Every unit has every recorded
 * cycle in exactly one span. The common statuses. */
sluice_rt_status sluice_rt_recording_spans(const sluice_rt_recording *recording, size_t *count);
sluice_rt_status sluice_rt_recording_span(const sluice_rt_recording *recording, size_t index,
                                          sluice_rt_span *span);
/* Null is allowed. */
void sluice_rt_recording_release(sluice_rt_recording *recording);

/* ---- jobs -------------------------------------------------------------- */

/* Row-major arrays in the caller's memory, of any alignment. */
typedef struct sluice_rt_input {
  size_t size;
  const void *data;
  size_t bytes; /* must be elements * size of the type */
  sluice_rt_type type;
} sluice_rt_input;

typedef struct sluice_rt_output {
  size_t size;
  void *data;
  size_t bytes; /* must be elements * size of the type */
  sluice_rt_type type;
} sluice_rt_output;

/* Starts one inference of a model and returns at once. There must be one array
 * per input and per output, in the order of the program. Inputs are rounded to
 * bfloat16, to nearest even (beyond its range: infinity), and copied before this
 * returns, so that an output may lie where an input was; outputs are written when the
 * job completes, so their memory must live until then (or until the device is closed
 * or reset). Jobs of one model complete in the order in which they were submitted.
 * `context` is handed back by sluice_rt_job_context. `job` may be null: then only
 * sluice_rt_device_next_ended gives a handle of it.
 * The common statuses; INVALID_ARGUMENT also if nothing is loaded, for arrays of
 * another number, size or type, and for members of a later version that are not
 * zero. *job is null unless OK. */
sluice_rt_status sluice_rt_submit(sluice_rt_device *device, uint32_t model,
                                  const sluice_rt_input *inputs, uint32_t input_count,
                                  const sluice_rt_output *outputs, uint32_t output_count,
                                  void *context, sluice_rt_job **job);

/* PENDING, or how the job ended: OK, STALLED, FAULT, CANCELLED, INTERNAL; or
 * INVALID_ARGUMENT for a null job. */
sluice_rt_status sluice_rt_job_poll(const sluice_rt_job *job);
/* Waits until it has ended; returns how, never PENDING. */
sluice_rt_status sluice_rt_job_wait(const sluice_rt_job *job);
/* The same, but PENDING after timeout_ms: for who must look at something else too. */
sluice_rt_status sluice_rt_job_wait_for(const sluice_rt_job *job, uint32_t timeout_ms);
/* The next job of this device that ended and was not handed out by this function
 * before; waits at most timeout_ms. The handle is one of its own, to be released like
 * that of submit, whatever becomes of that one; the context says which job it is. A job
 * whose handle is released before it is handed out is not handed out any more. The
 * common statuses, and PENDING if there is none; INVALID_ARGUMENT also if nothing is
 * loaded. *job is null unless OK; how the job ended says sluice_rt_job_poll. */
sluice_rt_status sluice_rt_device_next_ended(sluice_rt_device *device, uint32_t timeout_ms,
                                             sluice_rt_job **job);
/* OK or INVALID_ARGUMENT. */
sluice_rt_status sluice_rt_job_context(const sluice_rt_job *job, void **context);

typedef struct sluice_rt_job_cycles {
  size_t size;
  uint64_t first_input; /* cycle in which the first input row was accepted */
  uint64_t last_output; /* cycle in which the last output row was taken */
  uint64_t latency;     /* both included */
  uint64_t interval;    /* since the last output row of the job before; 0 for the first */
} sluice_rt_job_cycles;

/* Cycles of a job that ended with OK. With SPACED pacing `latency` is the spaced
 * latency; `interval` is the contiguous latency with CONTIGUOUS pacing and the
 * period with QUEUED pacing, once the pipeline is full. OK, or INVALID_ARGUMENT, also if
 * the job has not ended with OK. */
sluice_rt_status sluice_rt_job_cycles_of(const sluice_rt_job *job, sluice_rt_job_cycles *cycles);

/* Of either origin. A pending job goes on without its handles. Null is allowed. */
void sluice_rt_job_release(sluice_rt_job *job);

#ifdef __cplusplus
}
#endif

#endif
