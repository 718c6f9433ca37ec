/* SPDX-License-Identifier: Apache-2.0 */
/* C99: frames of a camera as a model's input, whatever its size, layout and type.
 *
 *     frames MODEL.qrt FORMAT WIDTH HEIGHT SCALE < FRAMES
 *
 * FORMAT is gray, rgb, rgba or nv12, whose planes follow each other. The model gets pixel * SCALE (1/255 for
 * models of pixels from 0 to 1); qrt/image.h has mean and std as well. Prints the greatest element of
 * each frame's output as a real number's index. */
#include <qrt/image.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* Sets the format and where the planes stand in `memory`; returns the bytes of a frame, 0 for no format. */
static size_t lay_out(const char* format, unsigned char* memory, qrt_frame* frame) {
  const size_t pixels = frame->width * frame->height;
  frame->planes[0] = memory;
  if (strcmp(format, "gray") == 0) return frame->format = QRT_GRAY, pixels;
  if (strcmp(format, "rgb") == 0) return frame->format = QRT_RGB, 3 * pixels;
  if (strcmp(format, "rgba") == 0) return frame->format = QRT_RGBA, 4 * pixels;
  if (strcmp(format, "nv12") != 0) return 0;
  frame->format = QRT_NV12;
  frame->planes[1] = memory + pixels;
  return pixels + 2 * ((frame->width + 1) / 2) * ((frame->height + 1) / 2);
}

static int run(qrt_session* session, const qrt_frame* frame, const qrt_frame_options* options) {
  qrt_tensor_info input, output;
  qrt_error error;
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  qrt_session_input_info(session, 0, &input);
  qrt_session_output_info(session, 0, &output);
  if (qrt_write_frame(frame, options, &input, 0, qrt_session_input_data(session, 0), &error) !=
          QRT_OK ||
      qrt_session_run(session, &error) != QRT_OK)
    return fail(error.message);
  const size_t count = output.bytes / qrt_dtype_size(output.dtype);
  float* scores = malloc(count * sizeof *scores);
  if (scores == NULL) return fail("no memory");
  const qrt_status status =
      qrt_dequantize(&output, qrt_session_output_data(session, 0), count, scores, &error);
  size_t best = 0;
  for (size_t i = 1; i < count && status == QRT_OK; ++i)
    if (scores[i] > scores[best]) best = i;
  free(scores);
  if (status != QRT_OK) return fail(error.message);
  printf("%zu\n", best);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 6) return fail("usage: frames MODEL.qrt FORMAT WIDTH HEIGHT SCALE < FRAMES") + 1;
  qrt_frame frame;
  qrt_frame_options options;
  qrt_error error;
  qrt_struct_init(&frame);
  qrt_struct_init(&options);
  frame.width = strtoul(argv[3], NULL, 10);
  frame.height = strtoul(argv[4], NULL, 10);
  if (frame.width > 10000 || frame.height > 10000) return fail("a frame is too large");
  options.scale = strtof(argv[5], NULL);
  unsigned char* memory = malloc(4 * frame.width * frame.height + 4);
  const size_t bytes = memory == NULL ? 0 : lay_out(argv[2], memory, &frame);
  if (bytes == 0) return fail("formats are gray, rgb, rgba and nv12, of one pixel or more");

  qrt_model* model = NULL;
  qrt_session* session = NULL;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK)
    return fail(error.message);
  int status = 0;
  while (status == 0 && fread(memory, 1, bytes, stdin) == bytes)
    status = run(session, &frame, &options);
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  free(memory);
  return status;
}
