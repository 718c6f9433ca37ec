/* SPDX-License-Identifier: Apache-2.0 */
/* C99: a session in memory that the program has set aside, and warnings on the program's own log.
 *
 *     static_memory MODEL.qrt INPUT
 *
 * INPUT holds the elements of the model's first input as they stand in memory. Prints the greatest
 * element of its first output, of float32. */
#include <qrt/qrt.h>
#include <stdint.h>
#include <stdio.h>

/* Memory with room for what a session needs, and for its alignment. */
static unsigned char memory[1 << 20];

static void* allocate(void* context, size_t bytes, size_t alignment) {
  unsigned char* begin = context;
  begin += (alignment - (uintptr_t)begin % alignment) % alignment;
  return (size_t)(begin - memory) + bytes <= sizeof memory ? begin : NULL;
}

static void log_warning(void* context, const char* message) {
  fprintf((FILE*)context, "qrt: %s\n", message);
}

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: static_memory MODEL.qrt INPUT") + 1;
  qrt_model* model = NULL;
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_session_info info;
  qrt_tensor_info input, output;
  qrt_error error;
  qrt_struct_init(&options);
  qrt_struct_init(&info);
  qrt_struct_init(&input);
  qrt_struct_init(&output);
  options.allocate = allocate; /* there is nothing to release */
  options.allocator_context = memory;
  options.log = log_warning;
  options.log_context = stderr;
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK ||
      qrt_session_needed_memory(model, &options, &info, &error) != QRT_OK)
    return fail(error.message);
  fprintf(stderr, "%zu bytes aligned to %zu\n", info.block_bytes, info.block_alignment);
  if (qrt_session_create(model, &options, &session, &error) != QRT_OK) return fail(error.message);
  qrt_session_input_info(session, 0, &input);
  qrt_session_output_info(session, 0, &output);
  if (output.dtype != QRT_FLOAT32) return fail("the output has to be float32");
  FILE* file = fopen(argv[2], "rb");
  if (file == NULL) return fail("INPUT cannot be read");
  if (fread(qrt_session_input_data(session, 0), 1, input.bytes, file) != input.bytes)
    return fail("INPUT is too short");
  fclose(file);
  qrt_session_run(session, NULL);
  const float* scores = qrt_session_output_data(session, 0);
  size_t best = 0;
  for (size_t i = 1; i < output.bytes / sizeof *scores; ++i)
    if (scores[i] > scores[best]) best = i;
  printf("%zu\n", best);
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return 0;
}
