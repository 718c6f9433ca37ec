/* SPDX-License-Identifier: Apache-2.0 */
/* The C API from C11, on the model of tests/support/every_op_model.h (file named by the argument).
 * Linked against the shared library: every function used here is exported. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include <math.h>
#include <qrt/qrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int ok, const char* what, int line) {
  if (ok) return;
  fprintf(stderr, "c_api_test.c:%d: %s\n", line, what);
  exit(1);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static const char* model_path;

static void library(void) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d (", QRT_VERSION_MAJOR, QRT_VERSION_MINOR,
           QRT_VERSION_PATCH);
  CHECK(strncmp(qrt_version(), version, strlen(version)) == 0);
  CHECK(strcmp(qrt_status_name(QRT_OUT_OF_MEMORY), "OUT_OF_MEMORY") == 0);
  CHECK(strcmp(qrt_status_name((qrt_status)9), "unknown") == 0);
  CHECK(strcmp(qrt_dtype_name(QRT_BFLOAT16), "bfloat16") == 0);
  CHECK(qrt_dtype_size(QRT_INT64) == 8);
  CHECK(strcmp(qrt_dtype_name(QRT_FLOAT4E2M1), "float4e2m1") == 0);
  CHECK(qrt_dtype_size(QRT_UINT2) == 0 && qrt_dtype_size(QRT_FLOAT8E5M2) == 1);
  for (int other = -1; other <= 256; other += other < 0 ? 22 : 235) { /* -1, 21, 256 */
    CHECK(strcmp(qrt_dtype_name((qrt_dtype)other), "unknown") == 0);
    CHECK(qrt_dtype_size((qrt_dtype)other) == 0);
  }
  CHECK(strcmp(qrt_isa(0), "scalar") == 0);
  size_t n = 0;
  while (qrt_isa(n) != NULL) ++n;
  CHECK(n >= 1 && qrt_isa(n + 1) == NULL);
}

/* Checks that every entry point takes NULL without harm. */
static void null_arguments(void) {
  qrt_error error;
  qrt_model* model = (qrt_model*)&error;
  qrt_session* session = (qrt_session*)&error;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  qrt_session_info session_info;
  qrt_struct_init(&session_info);
  CHECK(qrt_model_load_file(NULL, NULL, &model, &error) == QRT_INVALID_ARGUMENT);
  CHECK(model == NULL && strcmp(error.message, "path is NULL") == 0);
  CHECK(qrt_model_load_file("x", NULL, NULL, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_load_memory(NULL, 5, NULL, &model, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_create(NULL, NULL, &session, &error) == QRT_INVALID_ARGUMENT);
  CHECK(session == NULL && strcmp(error.message, "model is NULL") == 0);
  CHECK(qrt_model_input_count(NULL) == 0 && qrt_model_output_count(NULL) == 0);
  CHECK(qrt_model_input_info(NULL, 0, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_output_info(NULL, 0, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_get_info(NULL, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_get_info(NULL, &session_info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_metadata(NULL, "name") == NULL);
  CHECK(qrt_session_input_info(NULL, 0, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_output_info(NULL, 0, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_set_input_bytes(NULL, 0, "", 1, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_set_input(NULL, 0, QRT_UINT8, "", 1, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_get_output(NULL, 0, QRT_UINT8, &info, 1, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_get_output_bytes(NULL, 0, &info, 1, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_input_data(NULL, 0) == NULL && qrt_session_output_data(NULL, 0) == NULL);
  CHECK(qrt_session_run(NULL, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_run(NULL, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "session is NULL") == 0);
  CHECK(qrt_session_reset(NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_state_count(NULL) == 0 && qrt_session_find_state(NULL, "x") == SIZE_MAX);
  CHECK(qrt_session_state_info(NULL, 0, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_get_state(NULL, 0, &info, 1, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_set_state(NULL, 0, &info, 1, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_op_count(NULL) == 0);
  CHECK(qrt_session_op_info(NULL, 0, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_tensor_count(NULL) == 0);
  CHECK(qrt_session_tensor(NULL, 0, NULL, NULL) == QRT_INVALID_ARGUMENT);
  qrt_session_profile_reset(NULL);
  CHECK(qrt_session_needed_memory(NULL, NULL, &session_info, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_bind_input(NULL, 0, NULL, 0, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_bind_output(NULL, 0, NULL, 0, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_pool_create(2, NULL, &error) == QRT_INVALID_ARGUMENT && qrt_pool_threads(NULL) == 0);
  qrt_pool_destroy(NULL);
  qrt_struct_init_size(NULL, 64);
  qrt_model_destroy(NULL);
  qrt_session_destroy(NULL);
}

static void model_queries(const qrt_model* model) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  CHECK(qrt_model_input_count(model) == 2 && qrt_model_output_count(model) == 2);
  qrt_model_info m;
  qrt_struct_init(&m);
  CHECK(qrt_model_get_info(model, &m) == QRT_OK);
  CHECK(m.default_batch == 1 && m.level >= 1 && m.op_count > 20 && m.file_bytes > 1000);
  CHECK(strcmp(m.name, "test") == 0 && strcmp(m.reference, "ort-x64-fma") == 0);
  CHECK(qrt_model_get_info(model, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_input_info(model, 0, &info) == QRT_OK);
  CHECK(strcmp(info.name, "image") == 0 && info.dtype == QRT_FLOAT32 && info.rank == 4);
  CHECK(info.dims[0] == -1 && info.dims[1] == 8 && info.dims[2] == 8 && info.dims[3] == 4);
  CHECK(info.bytes == 1024 && info.quantization->count == 0 && info.quantization->axis == -1);
  CHECK(qrt_model_input_info(model, 2, &info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_model_output_info(model, 1, &info) == QRT_OK);
  CHECK(strcmp(info.name, "probabilities") == 0 && info.bytes == 40);
  CHECK(strcmp(qrt_model_metadata(model, "reference"), "ort-x64-fma") == 0);
  CHECK(strcmp(qrt_model_metadata(model, "producer"), "qrt tests") == 0);
  CHECK(qrt_model_metadata(model, "no such key") == NULL);
  CHECK(qrt_model_metadata(model, NULL) == NULL);
}

static void options_struct(const qrt_model* model) {
  struct {
    qrt_session_options options;
    int newer[4];
  } longer = {0};
  qrt_session* session = NULL;
  qrt_error error;
  qrt_session_options* options = &longer.options;
  CHECK(qrt_session_create(model, options, &session, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "qrt_struct_init") != NULL);
  /* A shorter struct: nothing is written behind it. */
  memset(options, 0xff, sizeof *options);
  qrt_struct_init_size(options, offsetof(qrt_session_options, max_memory));
  CHECK(options->struct_size == offsetof(qrt_session_options, max_memory));
  CHECK(options->kernels == NULL && options->max_memory == (size_t)-1);
  CHECK(qrt_session_create(model, options, &session, &error) == QRT_INVALID_ARGUMENT);
  qrt_struct_init(options);
  CHECK(options->struct_size == sizeof *options && options->threads == 0);
  /* A caller built against a newer header works as long as it leaves the new fields alone. */
  options->struct_size = sizeof longer;
  CHECK(qrt_session_create(model, options, &session, &error) == QRT_OK);
  CHECK(error.message[0] == '\0');
  qrt_session_destroy(session);
  longer.newer[1] = 1;
  CHECK(qrt_session_create(model, options, &session, &error) == QRT_INVALID_ARGUMENT);
  CHECK(session == NULL);
}

/* Programs of an older and of a newer header ask for shorter and longer structs. */
static void info_structs(const qrt_model* model) {
  struct {
    qrt_tensor_info info;
    int newer[4];
  } longer;
  qrt_session* session = NULL;
  struct {
    qrt_op_info info;
    int newer[4];
  } op;
  memset(&longer, 0x55, sizeof longer);
  CHECK(qrt_model_input_info(model, 0, NULL) == QRT_INVALID_ARGUMENT);
  longer.info.struct_size = 0;
  CHECK(qrt_model_input_info(model, 0, &longer.info) == QRT_INVALID_ARGUMENT);
  longer.info.struct_size = offsetof(qrt_tensor_info, layout);
  CHECK(qrt_model_input_info(model, 0, &longer.info) == QRT_INVALID_ARGUMENT);
  qrt_struct_init(&longer.info);
  CHECK(qrt_model_input_info(model, 0, &longer.info) == QRT_OK && longer.info.bytes == 1024);
  CHECK(longer.info.struct_size == sizeof longer.info && longer.newer[0] == 0x55555555);
  longer.info.struct_size = sizeof longer;
  CHECK(qrt_model_output_info(model, 1, &longer.info) == QRT_OK && longer.info.bytes == 40);
  CHECK(longer.info.struct_size == sizeof longer && longer.newer[0] == 0 && longer.newer[3] == 0);
  CHECK(qrt_session_create(model, NULL, &session, NULL) == QRT_OK);
  memset(&op, 0x55, sizeof op);
  op.info.struct_size = sizeof op;
  CHECK(qrt_session_op_info(session, 0, &op.info) == QRT_OK &&
        strcmp(op.info.type, "Quantize") == 0);
  CHECK(op.info.struct_size == sizeof op && op.newer[3] == 0);
  op.info.struct_size = sizeof op.info / 2;
  CHECK(qrt_session_op_info(session, 0, &op.info) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_op_info(session, 0, NULL) == QRT_INVALID_ARGUMENT);
  qrt_session_destroy(session);
}

/* Elements by type and number. */
static void typed(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_error error;
  static float image[256], scores[10], raw[10];
  CHECK(qrt_session_create(model, NULL, &session, &error) == QRT_OK);
  for (int i = 0; i < 256; ++i) image[i] = (float)(i % 11) - 5;
  CHECK(qrt_session_set_input(session, 0, QRT_FLOAT32, image, 256, &error) == QRT_OK);
  CHECK(memcmp(qrt_session_input_data(session, 0), image, sizeof image) == 0);
  CHECK(qrt_session_set_input(session, 0, QRT_INT32, image, 256, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "input 0 holds float32, not int32") == 0);
  CHECK(qrt_session_set_input(session, 0, (qrt_dtype)99, image, 256, &error) ==
        QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "input 0 holds float32, not unknown") == 0);
  CHECK(qrt_session_set_input(session, 0, QRT_FLOAT32, image, 255, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "input 0 has 256 elements, not 255") == 0);
  CHECK(qrt_session_set_input(session, 0, QRT_FLOAT32, NULL, 256, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_set_input(session, 9, QRT_FLOAT32, image, 256, &error) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_run(session, &error) == QRT_OK && error.message[0] == '\0');
  CHECK(qrt_session_get_output(session, 1, QRT_FLOAT32, scores, 10, &error) == QRT_OK);
  CHECK(qrt_session_get_output_bytes(session, 1, raw, sizeof raw, &error) == QRT_OK);
  CHECK(memcmp(scores, raw, sizeof raw) == 0);
  CHECK(qrt_session_get_output(session, 1, QRT_FLOAT32, scores, 11, &error) ==
        QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_get_output(session, 1, QRT_UINT8, scores, 40, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "output 1 holds float32, not uint8") == 0);
  qrt_session_destroy(session);
}

/* Sizes by the names of dimensions. */
static void dims(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_session_info info;
  qrt_error error;
  qrt_dim dim[2] = {{"batch", 3}, {"batch", 3}};
  qrt_struct_init(&options);
  qrt_struct_init(&info);
  options.dims = dim;
  options.dim_count = 2;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  CHECK(qrt_session_get_info(session, &info) == QRT_OK && info.batch == 3);
  qrt_session_destroy(session);
  dim[1].value = 4;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "'batch' is given two sizes: 3 and 4") == 0);
  options.dim_count = 1;
  options.batch = 2;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
  options.batch = 0;
  for (int i = 0; i < 3; ++i) {
    dim[0].value = i == 0 ? 0 : i == 1 ? -1 : INT64_MAX;
    CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OUT_OF_RANGE);
    CHECK(session == NULL && strstr(error.message, "the size of 'batch' is") != NULL);
    CHECK(qrt_session_needed_memory(model, &options, &info, NULL) == QRT_OUT_OF_RANGE);
  }
  CHECK(strcmp(qrt_status_name(QRT_OUT_OF_RANGE), "OUT_OF_RANGE") == 0);
  dim[0].name = "seq";
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
  dim[0].name = NULL;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
  options.dims = NULL;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
}

/* A session in memory of the caller's. */
typedef struct Block {
  unsigned char* memory; /* NULL: there is none */
  size_t bytes, alignment, offset;
  int allocated, released;
} Block;

static void* allocate(void* context, size_t bytes, size_t alignment) {
  Block* block = context;
  ++block->allocated;
  block->bytes = bytes;
  block->alignment = alignment;
  return block->memory == NULL ? NULL : block->memory + block->offset;
}

static void release(void* context, void* memory, size_t bytes) {
  Block* block = context;
  ++block->released;
  CHECK(memory == block->memory + block->offset && bytes == block->bytes);
}

static void allocator(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_session_info info;
  qrt_error error;
  Block block = {0};
  float own[10], theirs[10];
  qrt_struct_init(&options);
  qrt_struct_init(&info);
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(qrt_session_get_output(session, 1, QRT_FLOAT32, own, 10, NULL) == QRT_OK);
  qrt_session_destroy(session);

  options.allocate = allocate;
  options.release = release;
  options.allocator_context = &block;
  CHECK(qrt_session_needed_memory(model, &options, &info, &error) == QRT_OK);
  CHECK(block.allocated == 0 && info.block_bytes > 0 && info.block_alignment == 64);
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OUT_OF_MEMORY);
  CHECK(session == NULL && block.allocated == 1 && block.released == 0);
  /* Exactly as much as was asked for, with a mark on each side. */
  unsigned char* all = malloc(info.block_bytes + 192);
  CHECK(all != NULL);
  block.memory = all + 64 - (uintptr_t)all % 64;
  memset(block.memory - 1, 0xA7, info.block_bytes + 2);
  block.offset = 32;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OUT_OF_MEMORY);
  CHECK(strstr(error.message, "not aligned to 64") != NULL);
  CHECK(block.allocated == 2 && block.released == 1); /* it was not kept */
  block.offset = 0;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  CHECK(block.allocated == 3 && block.bytes == info.block_bytes && block.alignment == 64);
  const unsigned char* input = qrt_session_input_data(session, 0);
  CHECK(input >= block.memory && input < block.memory + block.bytes);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(qrt_session_get_output(session, 1, QRT_FLOAT32, theirs, 10, NULL) == QRT_OK);
  CHECK(memcmp(own, theirs, sizeof own) == 0);
  qrt_session_destroy(session);
  CHECK(block.released == 2);
  CHECK(block.memory[-1] == 0xA7 && block.memory[info.block_bytes] == 0xA7);
  options.release = NULL;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  qrt_session_destroy(session);
  CHECK(block.released == 2);
  options.release = release;
  options.allocate = NULL;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_INVALID_ARGUMENT);
  free(all);
}

typedef struct Log {
  int count;
  char last[200];
} Log;

static void keep_log(void* context, const char* message) {
  Log* log = context;
  ++log->count;
  snprintf(log->last, sizeof log->last, "%s", message);
}

static void log_hook(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  Log log = {0};
  qrt_struct_init(&options);
  options.log = keep_log;
  options.log_context = &log;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK && log.count == 0);
  qrt_session_destroy(session);
  CHECK(setenv("QRT_ISA", "z80", 1) == 0);
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK && log.count == 1);
  CHECK(strstr(log.last, "z80") != NULL && strcmp(log.last, error.message) == 0);
  qrt_session_destroy(session);
  options.log = NULL;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK && log.count == 1);
  CHECK(strstr(error.message, "z80") != NULL);
  qrt_session_destroy(session);
  CHECK(unsetenv("QRT_ISA") == 0);

  /* Bytes that have to be copied for their alignment. */
  static char bytes[1 << 20];
  qrt_load_options load;
  qrt_model* copy = NULL;
  FILE* file = fopen(model_path, "rb");
  CHECK(file != NULL);
  char* begin = bytes + 64 - (uintptr_t)bytes % 64;
  const size_t size = fread(begin + 1, 1, sizeof bytes - 128, file);
  fclose(file);
  qrt_struct_init(&load);
  load.log = keep_log;
  load.log_context = &log;
  CHECK(qrt_model_load_memory(begin + 1, size, &load, &copy, &error) == QRT_OK && log.count == 2);
  CHECK(strstr(log.last, "bytes were copied") != NULL);
  qrt_model_destroy(copy);
  load.flags = QRT_LOAD_COPY; /* as it was asked for */
  CHECK(qrt_model_load_memory(begin + 1, size, &load, &copy, &error) == QRT_OK && log.count == 2);
  qrt_model_destroy(copy);
  load.flags = 64;
  CHECK(qrt_model_load_memory(begin + 1, size, &load, &copy, &error) == QRT_INVALID_ARGUMENT);
}

/* Binds memory of the caller's, in a session with a pool of the caller's. */
static void bind(const qrt_model* model) {
  static _Alignas(QRT_BUFFER_ALIGNMENT) unsigned char image[1024 + QRT_BUFFER_PADDING];
  static _Alignas(QRT_BUFFER_ALIGNMENT) float scores[10 + QRT_BUFFER_PADDING / sizeof(float)];
  float expected[10];
  qrt_pool* pool = NULL;
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  for (size_t i = 0; i < 256; ++i) memcpy(image + 4 * i, &(float){(float)(i % 13) - 6}, 4);
  CHECK(qrt_pool_create(2, &pool, &error) == QRT_OK && qrt_pool_threads(pool) == 2);
  qrt_struct_init(&options);
  options.pool = pool;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  qrt_pool_destroy(pool);
  CHECK(qrt_session_set_input_bytes(session, 0, image, 1024, &error) == QRT_OK);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(qrt_session_get_output_bytes(session, 1, expected, sizeof expected, &error) == QRT_OK);
  CHECK(qrt_session_bind_input(session, 0, image, sizeof image, &error) == QRT_OK);
  CHECK(qrt_session_bind_output(session, 1, scores, sizeof scores, &error) == QRT_OK);
  CHECK(qrt_session_input_data(session, 0) == image);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(memcmp(scores, expected, sizeof expected) == 0 && expected[0] != 0);
  CHECK(qrt_session_bind_output(session, 1, scores, 39, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "output 1 takes 40 bytes, the buffer has 39") == 0);
  qrt_session_destroy(session);
}

static void run(qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  qrt_op_info op;
  qrt_struct_init(&op);
  static float image[2 * 8 * 8 * 4];
  unsigned char gate[2 * 16];
  float probabilities[2 * 10];

  qrt_struct_init(&options);
  options.batch = 2;
  options.threads = 2;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  qrt_model_destroy(model);
  CHECK(qrt_session_input_info(session, 0, &info) == QRT_OK);
  CHECK(info.dims[0] == 2 && info.bytes == sizeof image);
  CHECK(qrt_session_output_info(session, 1, &info) == QRT_OK);
  CHECK(info.bytes == sizeof probabilities);

  for (size_t i = 0; i < sizeof image / sizeof image[0]; ++i) image[i] = (float)(i % 17) - 8;
  memset(gate, 200, sizeof gate);
  CHECK(qrt_session_set_input_bytes(session, 0, image, sizeof image, &error) == QRT_OK);
  CHECK(qrt_session_set_input_bytes(session, 1, gate, sizeof gate, NULL) == QRT_OK);
  CHECK(qrt_session_set_input_bytes(session, 1, gate, 5, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "input 1 takes 32 bytes, not 5") == 0);
  CHECK(qrt_session_set_input_bytes(session, 2, gate, 5, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "there is no input 2: the model has 2") == 0);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(qrt_session_get_output_bytes(session, 1, probabilities, sizeof probabilities, &error) ==
        QRT_OK);
  CHECK(memcmp(qrt_session_output_data(session, 1), probabilities, sizeof probabilities) == 0);
  for (int row = 0; row < 2; ++row) {
    float sum = 0;
    for (int i = 0; i < 10; ++i) sum += probabilities[row * 10 + i];
    CHECK(fabsf(sum - 1) < 0.05f);
  }
  CHECK(qrt_session_get_output_bytes(session, 2, probabilities, 4, &error) == QRT_INVALID_ARGUMENT);

  qrt_session_info about;
  qrt_struct_init(&about);
  CHECK(qrt_session_get_info(session, &about) == QRT_OK);
  CHECK(about.memory > sizeof image && about.threads == 2 && about.batch == 2);
  CHECK(about.block_bytes > sizeof image && about.block_bytes < about.memory);
  CHECK(about.dim_count == 1 && strcmp(about.dims[0].name, "batch") == 0);
  CHECK(about.dims[0].value == 2 && about.isa != NULL);
  CHECK(qrt_session_get_info(session, NULL) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_op_info(session, 0, &op) == QRT_OK);
  CHECK(strcmp(op.type, "Quantize") == 0 && op.level == -1 && op.runs == 0);
  CHECK(qrt_session_op_info(session, qrt_session_op_count(session), &op) == QRT_INVALID_ARGUMENT);
  CHECK(qrt_session_tensor_count(session) == 0);
  qrt_session_destroy(session);
}

static void memory(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  qrt_session_info info, made;

  qrt_struct_init(&info);
  qrt_struct_init(&made);
  CHECK(qrt_session_needed_memory(model, NULL, &info, &error) == QRT_OK && info.memory > 1000);
  const size_t bytes = info.memory;
  CHECK(info.shared_memory > 1000 && info.shared_memory < bytes);
  info.struct_size = 3;
  CHECK(qrt_session_needed_memory(model, NULL, &info, &error) == QRT_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "qrt_struct_init") != NULL);
  CHECK(qrt_session_needed_memory(model, NULL, NULL, &error) == QRT_INVALID_ARGUMENT);
  qrt_struct_init(&options);
  options.max_memory = bytes - 1;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OUT_OF_MEMORY);
  CHECK(session == NULL && strstr(error.message, "max_memory") != NULL);
  options.max_memory = bytes;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  CHECK(qrt_session_get_info(session, &made) == QRT_OK && made.memory == bytes);
  qrt_session_destroy(session);
}

/* Checks that a cancelled run leaves inputs alone, and that the next run does all. */
static void cancel(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_session_options options;
  qrt_error error;
  float before[10];
  qrt_struct_init(&options);
  options.batch = 1;
  CHECK(qrt_session_create(model, &options, &session, &error) == QRT_OK);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(qrt_session_get_output_bytes(session, 1, before, sizeof before, &error) == QRT_OK);
  qrt_session_cancel(session);
  CHECK(qrt_session_run(session, NULL) == QRT_CANCELLED);
  CHECK(qrt_session_run(session, NULL) == QRT_OK);
  CHECK(memcmp(qrt_session_output_data(session, 1), before, sizeof before) == 0);
  CHECK(strcmp(qrt_status_name(QRT_CANCELLED), "CANCELLED") == 0);
  qrt_session_cancel(NULL);
  qrt_session_destroy(session);
}

/* Loads a model in the middle of another file, aligned and not. */
static void descriptor(const char* path) {
  static const size_t offsets[] = {0, 64, 4096, 8256, 77};
  static char bytes[1 << 20];
  qrt_error error;
  qrt_model* model = NULL;
  qrt_load_options options;
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  CHECK(size > 1000 && size < sizeof bytes);
  fclose(file);
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; ++i) {
    file = tmpfile();
    CHECK(file != NULL);
    CHECK(fseek(file, (long)offsets[i], SEEK_SET) == 0);
    CHECK(fwrite(bytes, 1, size, file) == size && fwrite("behind", 1, 6, file) == 6);
    CHECK(fflush(file) == 0);
    const int fd = fileno(file);
    CHECK(qrt_model_load_fd(fd, offsets[i], size + 7, NULL, &model, &error) ==
          QRT_INVALID_ARGUMENT);
    CHECK(model == NULL && strstr(error.message, "from offset") != NULL);
    CHECK(qrt_model_load_fd(fd, offsets[i] + size + 6, 0, NULL, &model, &error) ==
          QRT_INVALID_ARGUMENT);
    CHECK(qrt_model_load_fd(fd, UINT64_MAX, UINT64_MAX, NULL, &model, &error) ==
          QRT_INVALID_ARGUMENT);
    CHECK(qrt_model_load_fd(fd, offsets[i], size / 2, NULL, &model, &error) == QRT_INVALID_MODEL);
    /* A copy is made where the offset is not aligned, and counts. */
    qrt_struct_init(&options);
    options.max_memory = size - 1;
    const qrt_status status = qrt_model_load_fd(fd, offsets[i], size, &options, &model, &error);
    CHECK(offsets[i] % 64 != 0 ? status == QRT_OUT_OF_MEMORY : status == QRT_OK);
    qrt_model_destroy(model);
    CHECK(qrt_model_load_fd(fd, offsets[i], size, NULL, &model, &error) == QRT_OK);
    fclose(file);
    cancel(model);
    qrt_model_destroy(model);
  }
  CHECK(qrt_model_load_fd(-1, 0, 0, NULL, &model, &error) == QRT_IO_ERROR);
  CHECK(qrt_model_load_fd(0, 0, 0, NULL, NULL, &error) == QRT_INVALID_ARGUMENT);
}

/* Checks that a stream goes on where its state is put back. */
static void states(const qrt_model* model) {
  qrt_session* session = NULL;
  qrt_error error;
  CHECK(qrt_session_create(model, NULL, &session, &error) == QRT_OK);
  CHECK(qrt_session_state_count(session) == 3);
  for (size_t i = 0; i < 3; ++i) {
    uint8_t first[256], parked[256], last[256];
    qrt_tensor_info info;
    qrt_struct_init(&info);
    CHECK(qrt_session_state_info(session, i, &info) == QRT_OK && info.bytes <= sizeof first);
    CHECK(qrt_session_find_state(session, info.name) == i);
    CHECK(qrt_session_get_state(session, i, first, info.bytes, &error) == QRT_OK);
    CHECK(qrt_session_run(session, &error) == QRT_OK);
    CHECK(qrt_session_get_state(session, i, parked, info.bytes, &error) == QRT_OK);
    CHECK(memcmp(first, parked, info.bytes) != 0);
    CHECK(qrt_session_reset(session) == QRT_OK);
    CHECK(qrt_session_set_state(session, i, parked, info.bytes, &error) == QRT_OK);
    CHECK(qrt_session_get_state(session, i, last, info.bytes, &error) == QRT_OK);
    CHECK(memcmp(parked, last, info.bytes) == 0);
    CHECK(qrt_session_set_state(session, i, parked, info.bytes + 1, NULL) == QRT_INVALID_ARGUMENT);
    CHECK(qrt_session_reset(session) == QRT_OK);
  }
  qrt_session_destroy(session);
}

static void names(const qrt_model* model) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; i < qrt_model_input_count(model); ++i) {
    CHECK(qrt_model_input_info(model, i, &info) == QRT_OK);
    CHECK(qrt_model_find_input(model, info.name) == i);
    CHECK(qrt_model_find_output(model, info.name) == SIZE_MAX);
  }
  CHECK(qrt_model_output_info(model, 1, &info) == QRT_OK);
  CHECK(qrt_model_find_output(model, info.name) == 1);
  CHECK(qrt_model_find_input(model, "no such") == SIZE_MAX);
  CHECK(qrt_model_find_input(NULL, "x") == SIZE_MAX &&
        qrt_model_find_output(model, NULL) == SIZE_MAX);
  CHECK(qrt_model_metadata_key(model, 1000) == NULL && qrt_model_metadata_key(NULL, 0) == NULL);
  for (size_t i = 0; qrt_model_metadata_key(model, i) != NULL; ++i)
    CHECK(qrt_model_metadata(model, qrt_model_metadata_key(model, i)) != NULL);
  CHECK(qrt_version_number() == QRT_VERSION_NUMBER);
}

int main(int argc, char** argv) {
  qrt_model* model = NULL;
  qrt_error error;
  CHECK(argc == 2);
  model_path = argv[1];
  library();
  null_arguments();
  if (qrt_model_load_file(argv[1], NULL, &model, &error) != QRT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  model_queries(model);
  typed(model);
  dims(model);
  allocator(model);
  log_hook(model);
  options_struct(model);
  memory(model);
  names(model);
  states(model);
  info_structs(model);
  bind(model);
  cancel(model);
  run(model);
  descriptor(argv[1]);
  puts("c_api_test: passed");
  return 0;
}
