/* SPDX-License-Identifier: Apache-2.0 */
/* C99: objects in grey images, by a model that has its head: the boxes and scores come from it as they are.
 *
 *     detector MODEL.qrt THRESHOLD < IMAGES
 *
 * IMAGES are of 32 by 32 bytes. Prints "score left top right bottom" of what scores above the threshold, and an empty line
 * behind each image. The model:
 *
 *     python3 runtime/examples/models.py detector detector.onnx && qrt_convert detector.onnx -o detector.qrt */
#include <qrt/qrt.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: detector MODEL.qrt THRESHOLD < IMAGES") + 1;
  const double threshold = strtod(argv[2], NULL);
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_error error;
  qrt_tensor_info image, output;
  qrt_struct_init(&image);
  qrt_struct_init(&output);
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK)
    return fail(error.message);
  const size_t scores_at = qrt_model_find_output(model, "scores");
  const float* scores = qrt_session_output_data(session, scores_at);
  const float* boxes = qrt_session_output_data(session, qrt_model_find_output(model, "boxes"));
  if (qrt_session_input_info(session, 0, &image) != QRT_OK || image.dtype != QRT_UINT8 ||
      scores == NULL || boxes == NULL ||
      qrt_session_output_info(session, scores_at, &output) != QRT_OK)
    return fail("the model does not make boxes and scores of an image");
  int status = 0;
  while (status == 0 &&
         fread(qrt_session_input_data(session, 0), 1, image.bytes, stdin) == image.bytes) {
    if (qrt_session_run(session, &error) != QRT_OK) status = fail(error.message);
    for (size_t i = 0; i < output.bytes / sizeof(float) && status == 0; ++i)
      if ((double)scores[i] > threshold)
        printf("%.2f %g %g %g %g\n", (double)scores[i], (double)boxes[4 * i],
               (double)boxes[4 * i + 1], (double)boxes[4 * i + 2], (double)boxes[4 * i + 3]);
    printf("\n");
  }
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return status;
}
