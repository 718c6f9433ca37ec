/* SPDX-License-Identifier: Apache-2.0 */
/* C99: a stream of sound through a voice-activity detector, which keeps its state between runs.
 *
 *     voice MODEL.qrt [STATE] < SAMPLES
 *
 * SAMPLES are of 16 bits at 16 kHz. Prints for every frame how likely somebody speaks in it. STATE is a file in which
 * the stream is parked: it goes on from there, where the file is there, and is left there at the end. The model:
 *
 *     python3 runtime/examples/models.py voice voice.onnx
 *     qrt_convert voice.onnx -o voice.qrt --state noise=next_noise --state speech=next_speech */
#include <qrt/qrt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAME 256

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* Reads the states from the file, one behind the other, or writes them to it. */
static int park(qrt_session* session, FILE* file, int writes) {
  int status = 0;
  for (size_t i = 0; i < qrt_session_state_count(session) && status == 0; ++i) {
    qrt_tensor_info info;
    qrt_error error;
    qrt_struct_init(&info);
    qrt_session_state_info(session, i, &info);
    void* memory = malloc(info.bytes);
    if (memory == NULL) return fail("no memory");
    if (!writes && fread(memory, 1, info.bytes, file) != info.bytes)
      status = fail("the file of the state is too short");
    else if ((writes ? qrt_session_get_state(session, i, memory, info.bytes, &error)
                     : qrt_session_set_state(session, i, memory, info.bytes, &error)) != QRT_OK)
      status = fail(error.message);
    else if (writes && fwrite(memory, 1, info.bytes, file) != info.bytes)
      status = fail("the state cannot be written");
    free(memory);
  }
  return status;
}

static int listen(qrt_session* session) {
  int16_t samples[FRAME];
  float* input = qrt_session_input_data(session, 0);
  const float* output = qrt_session_output_data(session, 0);
  qrt_error error;
  while (fread(samples, sizeof *samples, FRAME, stdin) == FRAME) {
    for (int i = 0; i < FRAME; ++i) input[i] = (float)samples[i] / 32768;
    if (qrt_session_run(session, &error) != QRT_OK) return fail(error.message);
    printf("%.3f\n", (double)output[0]);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fail("usage: voice MODEL.qrt [STATE] < SAMPLES") + 1;
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_error error;
  qrt_tensor_info input, output;
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_create(model, NULL, &session, &error) != QRT_OK)
    return fail(error.message);
  if (qrt_model_input_count(model) != 1 || qrt_session_input_info(session, 0, &input) != QRT_OK ||
      input.dtype != QRT_FLOAT32 || input.bytes != FRAME * sizeof(float) ||
      qrt_session_output_info(session, 0, &output) != QRT_OK || output.dtype != QRT_FLOAT32)
    return fail("the model takes something else than 256 samples, or keeps no state");
  int status = 0;
  FILE* file = argc == 3 ? fopen(argv[2], "rb") : NULL;
  if (file != NULL) {
    status = park(session, file, 0);
    fclose(file);
  }
  if (status == 0) status = listen(session);
  if (status == 0 && argc == 3) {
    file = fopen(argv[2], "wb");
    status = file == NULL ? fail("the state cannot be written") : park(session, file, 1);
    if (file != NULL && fclose(file) != 0) status = fail("the state cannot be written");
  }
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return status;
}
