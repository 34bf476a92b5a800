/* Many inferences in flight at once: all are submitted, then taken as they end.
 *
 * usage: jobs program.sluice vm|rtl count
 */
#include <stdio.h>
#include <stdlib.h>

#include <sluice/sluice_rt.h>

static void check(sluice_rt_status status, const char *what) {
  if (status == SLUICE_RT_OK)
    return;
  fprintf(stderr, "jobs: %s: %s %s\n", what, sluice_rt_last_error_code(), sluice_rt_last_error());
  exit(1);
}

/* What belongs to one inference; the context of its job points here. */
typedef struct inference {
  float *input, *output;
} inference;

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: jobs program.sluice vm|rtl count\n");
    return 2;
  }
  const size_t count = (size_t)strtoul(argv[3], NULL, 10);
  sluice_rt_program *program;
  sluice_rt_device *device;
  sluice_rt_tensor_info in = {.size = sizeof in}, out = {.size = sizeof out};
  check(sluice_rt_program_load_file(argv[1], &program), "load the program");
  check(sluice_rt_program_input(program, 0, 0, &in), "ask for the input");
  check(sluice_rt_program_output(program, 0, 0, &out), "ask for the output");
  check(sluice_rt_device_open(argv[2], &device), "open the engine");
  check(sluice_rt_device_load(device, program), "load the engine");

  /* The clock stands until all are submitted: cycles do not depend on the host. */
  inference *all = calloc(count, sizeof *all);
  check(sluice_rt_device_hold(device, 1), "hold the clock");
  for (size_t i = 0; i < count; ++i) {
    all[i].input = malloc(in.elements * sizeof(float));
    all[i].output = malloc(out.elements * sizeof(float));
    for (uint64_t e = 0; e < in.elements; ++e)
      all[i].input[e] = (float)((i + e) % 16) - 8;
    const sluice_rt_input input = {sizeof input, all[i].input, in.elements * sizeof(float),
                                   SLUICE_RT_FLOAT32};
    const sluice_rt_output output = {sizeof output, all[i].output, out.elements * sizeof(float),
                                     SLUICE_RT_FLOAT32};
    /* Without a handle: next_ended gives one. */
    check(sluice_rt_submit(device, 0, &input, 1, &output, 1, &all[i], NULL), "submit");
  }
  check(sluice_rt_device_hold(device, 0), "let the clock go on");

  double sum = 0;
  uint64_t last = 0;
  for (size_t ended = 0; ended < count;) {
    sluice_rt_job *job;
    const sluice_rt_status status = sluice_rt_device_next_ended(device, 1000, &job);
    if (status == SLUICE_RT_PENDING)
      continue;
    check(status, "take the next job");
    check(sluice_rt_job_poll(job), "run");
    void *context;
    sluice_rt_job_cycles cycles = {.size = sizeof cycles};
    check(sluice_rt_job_context(job, &context), "ask which it is");
    check(sluice_rt_job_cycles_of(job, &cycles), "ask for cycles");
    sluice_rt_job_release(job);
    for (uint64_t e = 0; e < out.elements; ++e)
      sum += ((inference *)context)->output[e];
    last = cycles.last_output;
    ++ended;
  }
  printf("%zu inferences in %llu cycles, sum of all outputs %.6g\n", count,
         (unsigned long long)last + 1, sum);

  sluice_rt_device_close(device);
  sluice_rt_program_release(program);
  for (size_t i = 0; i < count; ++i) {
    free(all[i].input);
    free(all[i].output);
  }
  free(all);
  return 0;
}
