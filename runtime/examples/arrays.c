/* SPDX-License-Identifier: Apache-2.0 */
/* C99: arrays of real numbers as another program holds them, [channels, height, width] with rows that are
 * longer than the image, brought into a model's input whatever its type and layout.
 *
 *     arrays MODEL.qrt STRIDE < FLOATS
 *
 * STRIDE is the number of floats from row to row. Prints the index of the first output's greatest element. */
#include <qrt/image.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* Returns whether an image's channels stand before its rows: told by the layout or, where the model does not
 * tell, by which dimension is 1 or 3. */
static int are_channels_first(const qrt_tensor_info* input) {
  if (input->layout != QRT_LAYOUT_NONE) return input->layout == QRT_CHANNELS_FIRST;
  return (input->dims[1] == 1 || input->dims[1] == 3) && input->dims[3] != 1 && input->dims[3] != 3;
}

/* Puts [channels, height, width] of floats with a stride into the input. `dense` and `last` have room for
 * the image without gaps. */
static qrt_status write_input(qrt_session* session, const qrt_tensor_info* input,
                              const float* values, size_t stride, float* dense, float* last,
                              qrt_error* error) {
  const int is_first = are_channels_first(input);
  const size_t height = (size_t)input->dims[is_first ? 2 : 1];
  const size_t width = (size_t)input->dims[is_first ? 3 : 2];
  const size_t channels = (size_t)input->dims[is_first ? 1 : 3];
  const size_t count = channels * height * width;
  qrt_status status = qrt_copy_rows(values, stride * sizeof *values, width * sizeof *values,
                                    channels * height, dense);
  if (status == QRT_OK && !is_first)
    status = qrt_channels_last(dense, 1, channels, height * width, sizeof *dense, last);
  if (status != QRT_OK) return status;
  const float* image = is_first ? dense : last;
  if (input->dtype == QRT_FLOAT32)
    return qrt_session_set_input(session, 0, QRT_FLOAT32, image, count, error);
  return qrt_quantize(input, image, count, qrt_session_input_data(session, 0), error);
}

static int run(qrt_session* session, size_t stride) {
  qrt_tensor_info input, output;
  qrt_error error = {""};
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  qrt_session_input_info(session, 0, &input);
  qrt_session_output_info(session, 0, &output);
  if (input.rank != 4) return fail("the model takes no images");
  const int is_first = are_channels_first(&input);
  const size_t rows = (size_t)(input.dims[is_first ? 1 : 3] * input.dims[is_first ? 2 : 1]);
  const size_t width = (size_t)input.dims[is_first ? 3 : 2];
  if (stride < width) return fail("the stride is shorter than a row");
  float* values = calloc(rows * (stride + 2 * width), sizeof *values);
  if (values == NULL) return fail("no memory");
  float *dense = values + rows * stride, *last = dense + rows * width;
  const size_t given = fread(values, sizeof *values, rows * stride, stdin);
  qrt_status status = QRT_OK;
  if (given == rows * stride)
    status = write_input(session, &input, values, stride, dense, last, &error);
  free(values);
  if (given != rows * stride) return fail("too few floats");
  if (status == QRT_OK) status = qrt_session_run(session, &error);
  if (status != QRT_OK) return fail(error.message);
  const size_t count = output.bytes / sizeof(float);
  float* scores = malloc(output.bytes);
  if (scores == NULL) return fail("no memory");
  status = qrt_session_get_output(session, 0, QRT_FLOAT32, scores, count, &error);
  size_t best = 0;
  for (size_t i = 1; i < count && status == QRT_OK; ++i)
    if (scores[i] > scores[best]) best = i;
  free(scores);
  if (status != QRT_OK) return fail(error.message);
  printf("%zu\n", best);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: arrays MODEL.qrt STRIDE < FLOATS") + 1;
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_error error;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK) {
    qrt_model_destroy(model);
    return fail(error.message);
  }
  const int result = run(session, (size_t)strtoul(argv[2], NULL, 10));
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return result;
}
