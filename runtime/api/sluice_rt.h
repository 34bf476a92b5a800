/* The Sluice runtime: load a program file and run inferences on an engine.
 *
 * Statuses. Every function that can fail returns a status, and sluice_rt_last_error
 * returns a message. The comment of each function names the statuses that it returns.
 * "The common statuses" are OK, INVALID_ARGUMENT (a null pointer, an index that is too
 * large, a struct whose size is too small), OUT_OF_MEMORY and INTERNAL.
 *
 * Threads. Any thread may call any function, also on the same handle at the same time.
 * No thread may use a handle while or after it is released.
 *
 * Lifetimes. Data that a struct points to (names, texts, shapes, nodes, cycles) belongs
 * to the handle that filled the struct. It never changes and lives until that handle is
 * released. The names of units and activities are constants of the library.
 *
 * Structs. The first member of every struct is its size. The caller sets it to sizeof
 * before the call: sluice_rt_machine machine = {.size = sizeof machine}. A newer library
 * may append members; it fills only the members that the caller's struct has. An older
 * library sets the members that it does not know to zero. No struct contains an array.
 * In an array of structs, the size is the distance between two structs.
 */
#ifndef SLUICE_RUNTIME_API_SLUICE_RT_H
#define SLUICE_RUNTIME_API_SLUICE_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. sluice_rt_api_version of the library must return it. */
#define SLUICE_RT_API_VERSION 2

typedef enum sluice_rt_status {
  SLUICE_RT_OK = 0,
  SLUICE_RT_PENDING = 1,          /* not finished yet; not an error */
  SLUICE_RT_INVALID_ARGUMENT = 2, /* a null handle, a wrong index, size or type */
  SLUICE_RT_BAD_PROGRAM = 3,      /* the program file is unreadable or not valid */
  SLUICE_RT_UNAVAILABLE = 4,      /* this build has no such engine for this target */
  SLUICE_RT_STALLED = 5,          /* the machine stopped making progress */
  SLUICE_RT_FAULT = 6,            /* the program broke a rule of the machine */
  SLUICE_RT_CANCELLED = 7,        /* a reset, load or close cancelled the job */
  SLUICE_RT_OUT_OF_MEMORY = 8,
  SLUICE_RT_INTERNAL = 9,
  SLUICE_RT_BAD_STATE = 10 /* a saved state is damaged or belongs to another program */
} sluice_rt_status;

typedef enum sluice_rt_type {
  SLUICE_RT_FLOAT32 = 1,
  SLUICE_RT_BFLOAT16 = 2,
  SLUICE_RT_FLOAT16 = 3,
  SLUICE_RT_FLOAT64 = 4,
  SLUICE_RT_INT8 = 5,
  SLUICE_RT_UINT8 = 6,
  SLUICE_RT_INT16 = 7,
  SLUICE_RT_UINT16 = 8,
  SLUICE_RT_INT32 = 9,
  SLUICE_RT_UINT32 = 10,
  SLUICE_RT_INT64 = 11,
  SLUICE_RT_UINT64 = 12,
  SLUICE_RT_BOOL = 13 /* a byte, 0 or 1 */
} sluice_rt_type;

typedef struct sluice_rt_program sluice_rt_program;
typedef struct sluice_rt_device sluice_rt_device;
typedef struct sluice_rt_job sluice_rt_job;

uint32_t sluice_rt_api_version(void);

/* Returns the message of this thread's last call that failed, that is, did not return OK
 * or PENDING. Never null; "" if no call failed. Lives until the next failed call of this
 * thread, or until the thread ends. */
const char *sluice_rt_last_error(void);
/* Returns the code of that error, such as "E0504" (see sluice explain E0504); "" if it has
 * none. Lives as long as the message. */
const char *sluice_rt_last_error_code(void);
/* Returns the size of one element in bytes; 0 if there is no such type. */
size_t sluice_rt_type_size(sluice_rt_type type);

/* ---- programs ---------------------------------------------------------- */

/* Loads and checks a program file. The buffer needs no alignment and may be freed after
 * the call. Returns the common statuses and BAD_PROGRAM; *program is null unless OK. */
sluice_rt_status sluice_rt_program_load_file(const char *path, sluice_rt_program **program);
sluice_rt_status sluice_rt_program_load_buffer(const void *data, size_t size,
                                               sluice_rt_program **program);
/* Releases the program. Devices that have loaded it keep working. Null is allowed. */
void sluice_rt_program_release(sluice_rt_program *program);

/* The machine that a program was compiled for. */
typedef struct sluice_rt_machine {
  size_t size;
  const char *target; /* "c6b32" */
  uint32_t cores;
  uint32_t lanes;
  uint32_t clock_mhz;       /* clock frequency, to convert cycles to microseconds */
  const char *clock_source; /* source of clock_mhz; "nominal" if it is assumed */
} sluice_rt_machine;

typedef struct sluice_rt_model_info {
  size_t size;
  const char *name;
  uint32_t inputs;
  uint32_t outputs;
  uint64_t macs;         /* multiply-accumulates of one inference, without those by weights of 0 */
  uint64_t parameters;   /* constant numbers in the model */
  uint32_t random_draws; /* tensors of random numbers that the device draws for every job */
} sluice_rt_model_info;

typedef struct sluice_rt_tensor_info {
  size_t size;
  const char *name;
  sluice_rt_type type;  /* type in the ONNX model */
  uint32_t rank;        /* 0: a scalar */
  const int64_t *shape; /* rank extents, all at least 1 */
  uint32_t data_dim;    /* the axis along the lanes; the last one if there are several */
  uint64_t elements;    /* product of the shape */
  int64_t low;          /* an input of integers or bools accepts the integers from low */
  int64_t high;         /* to high; both are 0 for other tensors */
} sluice_rt_tensor_info;

/* Each returns the common statuses. Pointers in the structs live as long as the program. */
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

/* The units of a machine. Each core has a matrix unit and a vector unit. The host port has
 * the input unit; its core number is the number of cores. Each core and the host port have
 * a sequencer and a network FIFO. */
typedef enum sluice_rt_unit {
  SLUICE_RT_MATRIX = 0,
  SLUICE_RT_VECTOR = 1,
  SLUICE_RT_INPUT = 2,
  SLUICE_RT_SEQUENCER = 3, /* runs loops, registers and restart */
  SLUICE_RT_NETWORK = 4    /* FIFO of packets for the network */
} sluice_rt_unit;

/* A node of the source model. */
typedef struct sluice_rt_node_info {
  size_t size;
  int64_t index;    /* position in the ONNX graph; -1 if the node is not in it */
  const char *name; /* may be empty */
  const char *op;   /* operator, such as "Gemm" */
} sluice_rt_node_info;

typedef struct sluice_rt_instruction_info {
  size_t size;
  const char *text; /* one line of assembly */
  sluice_rt_unit unit;
  int multiplies;        /* 1 if every beat multiplies a weight block */
  uint32_t node_count;   /* number of source nodes; 0 if no particular node */
  const uint32_t *nodes; /* numbers of these nodes in the program */
  const char *moves;     /* "reads x[0, 0..7] to x[3, 0..7], writes y[0, 0..7]"; may be empty */
} sluice_rt_instruction_info;

/* Each returns the common statuses. Pointers in the structs live as long as the program. */
sluice_rt_status sluice_rt_program_nodes(const sluice_rt_program *program, uint32_t *count);
sluice_rt_status sluice_rt_program_node(const sluice_rt_program *program, uint32_t node,
                                        sluice_rt_node_info *info);
/* The instructions of a core. The core number of the host port is the number of cores. */
sluice_rt_status sluice_rt_program_instructions(const sluice_rt_program *program, uint32_t core,
                                                uint32_t *count);
sluice_rt_status sluice_rt_program_instruction(const sluice_rt_program *program, uint32_t core,
                                               uint32_t instruction,
                                               sluice_rt_instruction_info *info);

/* ---- devices ----------------------------------------------------------- */

/* Opens an engine: "vm", the C++ model of the machine, or "rtl", the Verilated hardware.
 * Both give the same bits in the same cycles. Returns the common statuses; *device is null
 * unless OK. */
sluice_rt_status sluice_rt_device_open(const char *name, sluice_rt_device **device);
/* Closes the device and cancels its pending jobs. Job handles stay valid until they are
 * released. Null is allowed. */
void sluice_rt_device_close(sluice_rt_device *device);

/* When the machine is offered the first row of a job. */
typedef enum sluice_rt_pacing {
  SLUICE_RT_QUEUED = 0,     /* as soon as the machine reads it: best throughput */
  SLUICE_RT_CONTIGUOUS = 1, /* right after the last output row of the previous job */
  SLUICE_RT_SPACED = 2      /* when the machine is idle */
} sluice_rt_pacing;

/* Settings of a device. Each returns the common statuses.
 * pacing: applies to jobs submitted after this call. The default is QUEUED.
 * waves: path of an FST file to write, or null. Copied. Applies from the next load on.
 * stall limit: a pending job stalls after this many cycles without progress, at least 256.
 *   The default is 10000. Applies from the next load on. */
sluice_rt_status sluice_rt_device_set_pacing(sluice_rt_device *device, sluice_rt_pacing pacing);
sluice_rt_status sluice_rt_device_set_waves(sluice_rt_device *device, const char *path);
sluice_rt_status sluice_rt_device_set_stall_limit(sluice_rt_device *device, uint64_t cycles);
/* Sets the seed of the random numbers that a program draws for each job, and the number of the
 * next job among them. Each job that is submitted adds 1 to that number; a load and a reset set
 * it to 0 and keep the seed. Both are 0 at first. The numbers of a job follow from its number,
 * the seed and the program file alone: they are equal on every engine and target. A saved state
 * does not contain seed and number. Returns the common statuses. */
sluice_rt_status sluice_rt_device_set_seed(sluice_rt_device *device, uint64_t seed,
                                           uint64_t inference);

/* Loads a program into the machine and starts it with its initial state. Cancels the jobs
 * of the previous program. The program may be released afterwards. Returns the common
 * statuses and UNAVAILABLE; after UNAVAILABLE the device is unchanged. */
sluice_rt_status sluice_rt_device_load(sluice_rt_device *device, const sluice_rt_program *program);
/* Cancels all jobs and restarts the program at cycle 0 with its initial state. Resets the
 * machine, which keeps its memories, and writes the rows of the state. After STALLED or
 * FAULT, a reset loads the program again, so the device can be used again. Returns the
 * common statuses; INVALID_ARGUMENT also if no program is loaded. */
sluice_rt_status sluice_rt_device_reset(sluice_rt_device *device);

/* Keeps an input of a model from job to job (keep != 0), or ends this (keep == 0). A job may
 * then leave the input out: data is null and bytes is 0. The device sends the array of the
 * last job that gave it. So the job takes the same cycles as one with that array. The first
 * job after a load or a reset must give the input, else sluice_rt_submit returns
 * INVALID_ARGUMENT (E0603). A load ends the keeping of all inputs. Saving and restoring a
 * state does not change a kept input. Returns the common statuses; INVALID_ARGUMENT also if
 * no program is loaded. */
sluice_rt_status sluice_rt_device_keep_input(sluice_rt_device *device, uint32_t model,
                                             uint32_t input, int keep);

/* Stops the clock of the machine (hold != 0) or starts it again (hold == 0). Jobs that are
 * submitted meanwhile wait for the machine. With QUEUED pacing, this makes cycle counts
 * independent of the speed of the host; with the other pacings, they always are. A load or
 * a reset does not change the setting. Returns the common statuses. */
sluice_rt_status sluice_rt_device_hold(sluice_rt_device *device, int hold);

typedef struct sluice_rt_counters {
  size_t size;
  uint64_t cycles; /* since the last load, reset, save or restore, like the members below;
                      the clock stands while no job is pending */
  uint64_t input_rows;
  uint64_t output_rows;
  uint64_t jobs_submitted;
  uint64_t jobs_completed;
  uint64_t switch_cycles; /* cycles of the last reset, save or restore, from the idle
                             machine to cycle 0; 0 after a load */
} sluice_rt_counters;

/* Returns the common statuses; INVALID_ARGUMENT also if no program is loaded. */
sluice_rt_status sluice_rt_device_counters(const sluice_rt_device *device,
                                           sluice_rt_counters *counters);

/* ---- state --------------------------------------------------------------- */

/* The state is the data that a program keeps from one inference to the next. A saved state
 * lets several streams share one program, or lets a stream continue later, on any engine.
 * Only programs of the same file can restore it. */

/* Gets the size of a saved state in bytes; 0 if the program keeps no state. Returns the
 * common statuses. */
sluice_rt_status sluice_rt_program_state_size(const sluice_rt_program *program, size_t *size);

/* save_state copies the state that the last inference left into a buffer of that size.
 * restore_state writes a saved state to the machine. Both restart the program at cycle 0;
 * later inferences give the same bits as without the save or restore. No job may be
 * pending. Both return the common statuses, and
 *   INVALID_ARGUMENT also if no program is loaded, the size is wrong or a job is pending;
 *   UNAVAILABLE if the program keeps no state or cannot save it;
 *   STALLED, FAULT or INTERNAL if the machine needs a reset before further use;
 *   BAD_STATE (restore only) if the state is damaged or belongs to another program.
 * Unless OK, nothing has been restored. */
sluice_rt_status sluice_rt_device_save_state(sluice_rt_device *device, void *buffer, size_t size);
sluice_rt_status sluice_rt_device_restore_state(sluice_rt_device *device, const void *buffer,
                                                size_t size);

/* ---- activities of units ------------------------------------------------ */

/* The activity of a unit in one cycle: exactly one of these. */
typedef enum sluice_rt_activity {
  SLUICE_RT_BUSY = 0,           /* issues a beat; sequencer: fetches or executes; network:
                                   sends a packet */
  SLUICE_RT_WAITS_TOKEN = 1,    /* waits for a token, which signals data or space */
  SLUICE_RT_WAITS_RESULT = 2,   /* vector unit: waits for a result of the matrix unit */
  SLUICE_RT_WAITS_TAKER = 3,    /* matrix unit: waits for room in the result FIFO */
  SLUICE_RT_WAITS_NETWORK = 4,  /* waits for room in its network FIFO */
  SLUICE_RT_WAITS_PIPELINE = 5, /* vector unit: a beat of a longer path is ahead */
  SLUICE_RT_WAITS_HOST = 6,     /* input unit: waits for the host to offer a row */
  SLUICE_RT_IDLE = 7,           /* no instruction; sequencer: halted; network: no packet */
  SLUICE_RT_WAITS_QUEUE = 8,    /* sequencer: waits for room in the queue of a unit */
  SLUICE_RT_WAITS_TURN = 9,     /* network: waits while another core sends a packet */
  SLUICE_RT_WAITS_OUTPUT = 10   /* network: waits for the host to read rows */
} sluice_rt_activity;

/* Returns "matrix", "vector", "input", "sequencer" or "network"; "" for another value. */
const char *sluice_rt_unit_name(sluice_rt_unit unit);
/* Returns "busy", "token", "result", "taker", "network", "pipeline", "host", "idle",
 * "queue", "turn" or "output"; "" for another value. */
const char *sluice_rt_activity_name(sluice_rt_activity activity);

/* A copy of the performance counters of all units at one moment. The caller releases it.
 * With engine rtl, these are the counters of the hardware. */
typedef struct sluice_rt_unit_counters sluice_rt_unit_counters;

/* The cycles of one unit since the last load, reset, save or restore, by activity. Their sum
 * is the number of cycles run. */
typedef struct sluice_rt_unit_cycles {
  size_t size;
  sluice_rt_unit unit;
  uint32_t core;
  uint32_t activities;    /* number of activities that this library knows */
  const uint64_t *cycles; /* indexed by activity; lives as long as the counters */
} sluice_rt_unit_cycles;

/* Returns the common statuses; INVALID_ARGUMENT also if no program is loaded. *counters is
 * null unless OK. */
sluice_rt_status sluice_rt_device_unit_counters(const sluice_rt_device *device,
                                                sluice_rt_unit_counters **counters);
/* Get the number of units, or one unit. Units are ordered by core; the host port comes last.
 * Both return the common statuses. */
sluice_rt_status sluice_rt_unit_counters_units(const sluice_rt_unit_counters *counters,
                                               uint32_t *count);
sluice_rt_status sluice_rt_unit_counters_unit(const sluice_rt_unit_counters *counters,
                                              uint32_t index, sluice_rt_unit_cycles *unit);
/* Releases the counters. Null is allowed. */
void sluice_rt_unit_counters_release(sluice_rt_unit_counters *counters);

/* ---- recordings --------------------------------------------------------- */

/* One activity of one unit, from cycle first to cycle last, both included. */
typedef struct sluice_rt_span {
  size_t size;
  uint64_t first;
  uint64_t last;
  uint32_t core;
  sluice_rt_unit unit;
  sluice_rt_activity activity;
  uint32_t instruction; /* index of the current instruction; 0 if IDLE */
} sluice_rt_span;

typedef struct sluice_rt_recording sluice_rt_recording;

/* Starts (record != 0) or stops recording the activity of every unit in every cycle, and
 * discards earlier recordings. Works before a program is loaded. A load, reset, save or
 * restore discards the recording and continues to record. Recording slows the engine down
 * but changes no cycle count. Returns the common statuses. */
sluice_rt_status sluice_rt_device_record(sluice_rt_device *device, int record);
/* Gets a copy of the recording. The caller releases it. Returns the common statuses;
 * INVALID_ARGUMENT also if no program is loaded or the device is not recording. *recording
 * is null unless OK. */
sluice_rt_status sluice_rt_device_recording(const sluice_rt_device *device,
                                            sluice_rt_recording **recording);
/* Get the number of spans, or one span. Spans are ordered by core, unit and cycle. Each
 * recorded cycle of a unit is in exactly one span. Both return the common statuses. */
sluice_rt_status sluice_rt_recording_spans(const sluice_rt_recording *recording, size_t *count);
sluice_rt_status sluice_rt_recording_span(const sluice_rt_recording *recording, size_t index,
                                          sluice_rt_span *span);
/* Releases the recording. Null is allowed. */
void sluice_rt_recording_release(sluice_rt_recording *recording);

/* ---- jobs -------------------------------------------------------------- */

/* Row-major arrays in memory of the caller, with any alignment. */
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

/* Starts one inference of a model and returns at once. Give one array per input and per
 * output, in the order of the program. An input that the device keeps may be left out
 * (sluice_rt_device_keep_input).
 * Inputs are copied before the function returns. An input may have elements of any type. A
 * floating-point input is rounded to bfloat16: to nearest, ties to even, and to infinity
 * beyond its range. An input of integers or bools is exact: elements that are no integer from
 * low to high are INVALID_ARGUMENT (E0618). An output may use the memory of an input. An
 * output array has a floating-point type, or an integer type if the output has one; an
 * element that the array's type does not have becomes the nearest one.
 * Outputs are written when the job completes. Their memory must live until then, or until
 * the device is closed or reset.
 * Jobs of one model complete in the order of submission. sluice_rt_job_context returns
 * `context`. If `job` is null, only sluice_rt_device_next_ended gives a handle of the job.
 * Returns the common statuses; INVALID_ARGUMENT also if no program is loaded, if the
 * number, size or type of the arrays is wrong, or if members that this library does not
 * know are not zero. *job is null unless OK. */
sluice_rt_status sluice_rt_submit(sluice_rt_device *device, uint32_t model,
                                  const sluice_rt_input *inputs, uint32_t input_count,
                                  const sluice_rt_output *outputs, uint32_t output_count,
                                  void *context, sluice_rt_job **job);

/* Puts a reset into the queue of jobs: it begins when every job submitted before has
 * completed, and jobs submitted afterwards wait for it. It gives the program its initial
 * state, as sluice_rt_device_reset does, but cancels no job, and the counters continue. It
 * counts as a job. Its latency in sluice_rt_job_cycles is the number of cycles that it takes,
 * first_input the cycle in which it begins, and last_output the cycle of the restart. If the
 * machine is unusable after STALLED or FAULT, the reset ends with that status too. `context`
 * and `job` are those of sluice_rt_submit. Returns the common statuses; INVALID_ARGUMENT also
 * if no program is loaded. *job is null unless OK. */
sluice_rt_status sluice_rt_submit_reset(sluice_rt_device *device, void *context,
                                        sluice_rt_job **job);

/* Returns PENDING, or how the job ended: OK, STALLED, FAULT, CANCELLED or INTERNAL; or
 * INVALID_ARGUMENT for a null job. */
sluice_rt_status sluice_rt_job_poll(const sluice_rt_job *job);
/* Waits until the job has ended, and returns how. Never returns PENDING. */
sluice_rt_status sluice_rt_job_wait(const sluice_rt_job *job);
/* Waits at most timeout_ms. Returns PENDING if the job has not ended by then. */
sluice_rt_status sluice_rt_job_wait_for(const sluice_rt_job *job, uint32_t timeout_ms);
/* Gets the next job of this device that has ended, each job once; waits at most timeout_ms.
 * The handle is separate from that of sluice_rt_submit and must be released too. The
 * context tells which job it is, and sluice_rt_job_poll how it ended. A job whose handle
 * was released before is skipped. Returns the common statuses, and PENDING if no job has
 * ended; INVALID_ARGUMENT also if no program is loaded. *job is null unless OK. */
sluice_rt_status sluice_rt_device_next_ended(sluice_rt_device *device, uint32_t timeout_ms,
                                             sluice_rt_job **job);
/* Gets the context that the job was submitted with. Returns OK or INVALID_ARGUMENT. */
sluice_rt_status sluice_rt_job_context(const sluice_rt_job *job, void **context);

typedef struct sluice_rt_job_cycles {
  size_t size;
  uint64_t first_input; /* cycle in which the machine read the first input row */
  uint64_t last_output; /* cycle in which the host read the last output row */
  uint64_t latency;     /* cycles from first_input to last_output, both included */
  uint64_t interval;    /* cycles since the last output row of the previous job; 0 for the first */
} sluice_rt_job_cycles;

/* Gets the cycles of a job that ended with OK. With SPACED pacing, `latency` is the spaced
 * latency. With CONTIGUOUS pacing, `interval` is the contiguous latency. With QUEUED pacing,
 * `interval` is the period once the pipeline is full. Returns OK or INVALID_ARGUMENT, also
 * if the job has not ended with OK. */
sluice_rt_status sluice_rt_job_cycles_of(const sluice_rt_job *job, sluice_rt_job_cycles *cycles);

/* Releases a handle of sluice_rt_submit or sluice_rt_device_next_ended. The job of
 * the handle continues if it is pending. Null is allowed. */
void sluice_rt_job_release(sluice_rt_job *job);

#ifdef __cplusplus
}
#endif

#endif
