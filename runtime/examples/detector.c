/* SPDX-License-Identifier: Apache-2.0 */
/* C99: objects in grey images, by a model that has its head: non-maximum suppression is a part of it, and how many boxes it keeps
 * only a run knows.
 *
 *     detector MODEL.qrt THRESHOLD < IMAGES
 *
 * IMAGES are of 32 by 32 bytes, and a box is 5 by 5 pixels around its middle. Prints "score left top right bottom" of what scores above the
 * threshold, and an empty line behind each image. The model:
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
  qrt_tensor_info image;
  qrt_struct_init(&image);
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK)
    return fail(error.message);
  const size_t found_at = qrt_model_find_output(model, "found");
  const int64_t* found = qrt_session_output_data(session, found_at);
  const float* scores = qrt_session_output_data(session, qrt_model_find_output(model, "scores"));
  if (qrt_session_input_info(session, 0, &image) != QRT_OK || image.bytes != 32 * 32 ||
      scores == NULL || found == NULL)
    return fail("the model does not find boxes in an image of 32 by 32 bytes");
  int status = 0;
  while (status == 0 &&
         fread(qrt_session_input_data(session, 0), 1, image.bytes, stdin) == image.bytes) {
    if (qrt_session_run(session, &error) != QRT_OK) status = fail(error.message);
    /* Rows of image, class and place: as many as the run has found. */
    const size_t count = status == 0 ? qrt_session_output_count(session, found_at) : 0;
    for (size_t i = 0; i < count; ++i) {
      const int place = (int)found[3 * i + 2], left = place % 32 - 2, top = place / 32 - 2;
      if ((double)scores[place] > threshold)
        printf("%.2f %d %d %d %d\n", (double)scores[place], left, top, left + 5, top + 5);
    }
    printf("\n");
  }
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return status;
}
