/* SPDX-License-Identifier: Apache-2.0 */
/* Camera buffers: a model with uint8 frames as input reads each frame where the driver has put it.
 *
 *     camera MODEL.qrt < FRAMES
 *
 * A ring of buffers stands for those that a driver maps (V4L2: VIDIOC_QUERYBUF and mmap). Mapped memory is
 * aligned to pages. Kernels read up to QRT_BUFFER_PADDING bytes behind a frame, whatever they hold: where
 * frames fill their pages to the last byte, map a page more, as here, or each run copies its frame. Prints the
 * greatest element of each frame's output. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <qrt/qrt.h>
#include <stdio.h>
#include <sys/mman.h>

#define BUFFERS 3

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: camera MODEL.qrt < FRAMES") + 1;
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  qrt_struct_init(&options);
  const size_t frame = 0;
  options.external_inputs = &frame; /* no memory for input 0 but the driver's */
  options.external_input_count = 1;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, &options, &session, &error) != QRT_OK)
    return fail(error.message);
  qrt_model_destroy(model); /* the session keeps what it needs */
  qrt_tensor_info input, output;
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  qrt_session_input_info(session, 0, &input);
  qrt_session_output_info(session, 0, &output);
  if (input.dtype != QRT_UINT8 || output.dtype != QRT_UINT8)
    return fail("the model's input and output have to be uint8");

  void* ring[BUFFERS];
  const size_t capacity = input.bytes + QRT_BUFFER_PADDING;
  for (int i = 0; i < BUFFERS; ++i) {
    ring[i] = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring[i] == MAP_FAILED) return fail("no memory for frames");
  }
  for (int i = 0;; i = (i + 1) % BUFFERS) {
    if (fread(ring[i], 1, input.bytes, stdin) != input.bytes) break; /* VIDIOC_DQBUF */
    if (qrt_session_bind_input(session, 0, ring[i], capacity, &error) != QRT_OK)
      return fail(error.message);
    if (qrt_session_run(session, &error) != QRT_OK) return fail(error.message);
    const unsigned char* y = qrt_session_output_data(session, 0);
    size_t best = 0;
    for (size_t k = 1; k < output.bytes; ++k)
      if (y[k] > y[best]) best = k;
    printf("%zu\n", best); /* VIDIOC_QBUF gives the buffer back */
  }
  qrt_session_destroy(session);
  for (int i = 0; i < BUFFERS; ++i) munmap(ring[i], capacity);
  return 0;
}
