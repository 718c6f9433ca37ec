/* SPDX-License-Identifier: Apache-2.0 */
/* An application in C: loads the model named by the argument, runs it once. */
#include <qrt/qrt.h>
#include <stdio.h>

int main(int argc, char** argv) {
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_error error;
  if (argc != 2) return 2;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  if (qrt_session_run(session, NULL) != QRT_OK) return 1;
  printf("qrt %s: ran %zu operators\n", qrt_version(), qrt_session_op_count(session));
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return 0;
}
