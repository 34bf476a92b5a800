/* Classifies handwritten digits on the simulated accelerator: an example of the
 * C API, and the last step of tools/quickstart.sh.
 *
 * usage: digits-classify digits.sluice heldout.csv [vm|rtl] [images]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sluice/sluice_rt.h>

enum { kPixels = 64, kDigits = 10, kMaxImages = 2000, kDrawn = 3 };

typedef struct image {
  int label;
  float pixels[kPixels];
} image;

static void die(const char *what) {
  fprintf(stderr, "digits-classify: %s: %s\n", what, sluice_rt_last_error());
  exit(1);
}

static void check(sluice_rt_status status, const char *what) {
  if (status != SLUICE_RT_OK)
    die(what);
}

/* Reads "label,p0,...,p63" lines; returns the number of images. */
static int read_images(const char *path, image *images, int limit) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(1);
  }
  char line[1024];
  int count = 0;
  while (count < limit && fgets(line, sizeof line, file)) {
    char *next = line;
    images[count].label = (int)strtol(next, &next, 10);
    for (int i = 0; i < kPixels; ++i) {
      if (*next != ',') {
        fprintf(stderr, "%s:%d: expected %d pixels\n", path, count + 1, kPixels);
        exit(1);
      }
      images[count].pixels[i] = strtof(next + 1, &next);
    }
    ++count;
  }
  fclose(file);
  return count;
}

static int largest(const float *scores) {
  int best = 0;
  for (int i = 1; i < kDigits; ++i)
    if (scores[i] > scores[best])
      best = i;
  return best;
}

/* Draws `count` images side by side, and under each the answer and what the image shows. */
static void draw(const image *images, const int *answers, int count) {
  static const char shades[] = " .:-=+*#%@";
  for (int line = 0; line < 8; ++line) {
    for (int i = 0; i < count; ++i) {
      printf("  ");
      for (int column = 0; column < 8; ++column) {
        const float pixel = images[i].pixels[line * 8 + column]; /* 0 to 16 */
        const char shade = shades[(int)(pixel * 9 / 16 + 0.5F)];
        printf("%c%c", shade, shade);
      }
    }
    printf("\n");
  }
  for (int i = 0; i < count; ++i)
    printf("  answer %d, is %d  ", answers[i], images[i].label);
  printf("\n\n");
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 5) {
    fprintf(stderr,
            "usage: digits-classify PROGRAM.sluice IMAGES.csv [ENGINE] [COUNT]\n"
            "Classifies images of handwritten digits; prints the accuracy and the latency.\n"
            "  PROGRAM.sluice  the network tools/digits/digits.onnx, compiled by sluice\n"
            "  IMAGES.csv      one image per line, such as tools/digits/heldout.csv\n"
            "  ENGINE          vm or rtl (rtl)\n"
            "  COUNT           number of images to classify (all)\n");
    return 2;
  }
  const char *engine = argc > 3 ? argv[3] : "rtl";
  const int limit = argc > 4 ? atoi(argv[4]) : kMaxImages;
  static image images[kMaxImages];
  const int count = read_images(argv[2], images, limit < kMaxImages ? limit : kMaxImages);
  if (count == 0) {
    fprintf(stderr, "%s: no images\n", argv[2]);
    return 1;
  }

  sluice_rt_program *program;
  sluice_rt_device *device;
  sluice_rt_machine machine = {.size = sizeof machine};
  check(sluice_rt_program_load_file(argv[1], &program), "load program");
  check(sluice_rt_program_machine(program, &machine), "query machine");
  check(sluice_rt_device_open(engine, &device), "open engine");
  check(sluice_rt_device_set_pacing(device, SLUICE_RT_SPACED), "set pacing");
  check(sluice_rt_device_load(device, program), "load device");

  int right = 0;
  static int answers[kMaxImages];
  uint64_t latency = 0;
  for (int i = 0; i < count; ++i) {
    float scores[kDigits];
    sluice_rt_input input = {sizeof input, images[i].pixels, sizeof images[i].pixels,
                             SLUICE_RT_FLOAT32};
    sluice_rt_output output = {sizeof output, scores, sizeof scores, SLUICE_RT_FLOAT32};
    sluice_rt_job *job;
    sluice_rt_job_cycles cycles = {.size = sizeof cycles};
    check(sluice_rt_submit(device, 0, &input, 1, &output, 1, NULL, &job), "submit");
    check(sluice_rt_job_wait(job), "run");
    check(sluice_rt_job_cycles_of(job, &cycles), "cycles");
    sluice_rt_job_release(job);
    latency = cycles.latency > latency ? cycles.latency : latency;
    answers[i] = largest(scores);
    right += answers[i] == images[i].label;
    if (isatty(STDERR_FILENO))
      fprintf(stderr, "\r%d of %d images", i + 1, count);
  }
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K");

  draw(images, answers, count < kDrawn ? count : kDrawn);
  printf("engine    %s, target %s\n", engine, machine.target);
  printf("accuracy  %d of %d images right (%.2f %%)\n", right, count, 100.0 * right / count);
  printf("latency   %llu cycles, %.3f us at %u MHz, %s\n", (unsigned long long)latency,
         (double)latency / machine.clock_mhz, machine.clock_mhz, machine.clock_source);
  sluice_rt_device_close(device);
  sluice_rt_program_release(program);
  return 0;
}
