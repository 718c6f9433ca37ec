/* SPDX-License-Identifier: Apache-2.0 */
/* C99: a greedy decoder, whose caches are states of the session: a run takes one token and gives the next.
 *
 *     decoder MODEL.qrt TEXT COUNT
 *
 * Prints COUNT characters that go on with the text, a token each. The model:
 *
 *     python3 runtime/examples/models.py decoder decoder.onnx
 *     qrt_convert decoder.onnx -o decoder.qrt --allow-float --state keys=next_keys --state values=next_values \
 *       --state context=next_context --state position=next_position */
#include <qrt/qrt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* Takes a token; returns the next one, or -1. */
static int64_t step(qrt_session* session, int64_t token) {
  qrt_error error;
  int64_t next = -1;
  qrt_status status = qrt_session_set_input(session, 0, QRT_INT64, &token, 1, &error);
  if (status == QRT_OK) status = qrt_session_run(session, &error);
  if (status == QRT_OK) status = qrt_session_get_output(session, 0, QRT_INT64, &next, 1, &error);
  /* The position, or the token, is out of range. The states are as they were before the run. */
  if (status == QRT_OUT_OF_RANGE)
    fail("no place is left in the cache, or no such token");
  else if (status != QRT_OK)
    fail(error.message);
  return status == QRT_OK ? next : -1;
}

int main(int argc, char** argv) {
  if (argc != 4 || argv[2][0] == '\0') return fail("usage: decoder MODEL.qrt TEXT COUNT") + 1;
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_error error;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK)
    return fail(error.message);
  int64_t token = 0;
  for (const char* at = argv[2]; *at != '\0' && token >= 0; ++at)
    token = step(session, (unsigned char)*at - 32);
  for (long i = 0, count = strtol(argv[3], NULL, 10); i < count && token >= 0; ++i) {
    putchar((int)token + 32);
    token = step(session, token);
  }
  putchar('\n');
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return token < 0;
}
