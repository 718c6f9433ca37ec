/* SPDX-License-Identifier: Apache-2.0 */
/* C: runs a model on one input, and prints the greatest element of its first output.
 *
 *     classify_c MODEL.qrt INPUT
 *
 * INPUT holds the elements of the model's first input as they stand in memory. */
#include <qrt/qrt.h>
#include <stdio.h>

static size_t greatest(const qrt_tensor_info* info, const void* data) {
  size_t best = 0, count = info->bytes / qrt_dtype_size(info->dtype);
  for (size_t i = 1; i < count; ++i) {
    const int greater = info->dtype == QRT_FLOAT32
                            ? ((const float*)data)[i] > ((const float*)data)[best]
                            : ((const unsigned char*)data)[i] > ((const unsigned char*)data)[best];
    if (greater) best = i;
  }
  return best;
}

static int classify(const qrt_model* model, FILE* file) {
  qrt_session* session = NULL;
  qrt_error error;
  if (qrt_session_create(model, NULL, &session, &error) != QRT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  qrt_tensor_info input, output;
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  qrt_session_input_info(session, 0, &input);
  qrt_session_output_info(session, 0, &output);
  int status = 1;
  if (output.dtype != QRT_FLOAT32 && output.dtype != QRT_UINT8) {
    fprintf(stderr, "'%s' holds %s\n", output.name, qrt_dtype_name(output.dtype));
  } else if (fread(qrt_session_input_data(session, 0), 1, input.bytes, file) != input.bytes) {
    fprintf(stderr, "'%s' takes %zu bytes\n", input.name, input.bytes);
  } else {
    qrt_session_run(session, NULL); /* cannot fail: no memory of ours is bound */
    printf("%zu\n", greatest(&output, qrt_session_output_data(session, 0)));
    status = 0;
  }
  qrt_session_destroy(session);
  return status;
}

int main(int argc, char** argv) {
  qrt_model* model = NULL;
  qrt_error error;
  if (argc != 3) {
    fprintf(stderr, "usage: classify_c MODEL.qrt INPUT\n");
    return 2;
  }
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  FILE* file = fopen(argv[2], "rb");
  if (file == NULL) {
    perror(argv[2]);
    qrt_model_destroy(model);
    return 1;
  }
  const int status = classify(model, file);
  fclose(file);
  qrt_model_destroy(model);
  return status;
}
