/* SPDX-License-Identifier: Apache-2.0 */
/* C99 and POSIX: prints what a model and a session report about themselves, and what each operator
 * of a run takes.
 *
 *     tour MODEL.qrt [THREADS]
 *
 * Ctrl-C ends a run that takes too long. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <qrt/qrt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static qrt_session* running; /* what Ctrl-C cancels */

static void on_interrupt(int signal) {
  (void)signal;
  qrt_session_cancel(running);
}

static int fail(qrt_status status, const qrt_error* error) {
  fprintf(stderr, "%s: %s\n", qrt_status_name(status), error->message);
  return 1;
}

static void print_tensor(const char* role, size_t index, const qrt_tensor_info* info) {
  printf("%s %zu: %s %s [", role, index, info->name, qrt_dtype_name(info->dtype));
  for (int i = 0; i < info->rank; ++i) printf("%s%lld", i ? ", " : "", (long long)info->dims[i]);
  printf("]");
  if (info->quantization->count == 1)
    printf(", scale %g, zero point %d", info->quantization->scale[0],
           (int)info->quantization->zero_point[0]);
  printf("\n");
}

/* Prints the dimensions whose sizes a session chooses, the batch among them. */
static void print_dims(const qrt_model* model) {
  qrt_dim_info dim;
  qrt_struct_init(&dim);
  for (size_t i = 0; i < qrt_model_dim_count(model); ++i)
    if (qrt_model_dim_info(model, i, &dim) == QRT_OK)
      printf("dimension %s: %lld, from %lld to %lld\n", dim.name, (long long)dim.default_size,
             (long long)dim.least, (long long)dim.most);
}

static void print_model(const qrt_model* model) {
  qrt_model_info info;
  qrt_struct_init(&info);
  qrt_model_get_info(model, &info);
  printf("%s: %zu operators, %zu bytes, level %d\n", info.name != NULL ? info.name : "a model",
         info.op_count, info.file_bytes, info.level);
  const char* format = qrt_model_metadata(model, "source_format");
  printf("from %s, with the bits of %s\n", format != NULL ? format : "?",
         info.reference != NULL ? info.reference : "?");
  const char* key;
  for (size_t i = 0; (key = qrt_model_metadata_key(model, i)) != NULL; ++i)
    printf("metadata %s: %zu bytes\n", key, strlen(qrt_model_metadata(model, key)));
  qrt_tensor_info tensor;
  qrt_struct_init(&tensor);
  for (size_t i = 0; i < qrt_model_input_count(model); ++i) {
    qrt_model_input_info(model, i, &tensor);
    print_tensor("input", qrt_model_find_input(model, tensor.name), &tensor);
  }
  for (size_t i = 0; i < qrt_model_output_count(model); ++i) {
    qrt_model_output_info(model, i, &tensor);
    print_tensor("output", qrt_model_find_output(model, tensor.name), &tensor);
  }
  print_dims(model);
}

static void print_run(qrt_session* session) {
  qrt_op_info op;
  qrt_struct_init(&op);
  for (size_t i = 0; i < qrt_session_op_count(session); ++i) {
    qrt_session_op_info(session, i, &op);
    printf("operator %zu: %s by %s, %llu products\n", i, op.type, op.kernel,
           (unsigned long long)op.macs);
  }
  qrt_tensor_info tensor;
  qrt_struct_init(&tensor);
  for (size_t i = 0; i < qrt_session_tensor_count(session); ++i) {
    const void* data;
    if (qrt_session_tensor(session, i, &tensor, &data) == QRT_OK)
      printf("tensor %zu: %zu bytes, the first is %d\n", i, tensor.bytes,
             tensor.bytes != 0 ? *(const unsigned char*)data : 0);
  }
}

/* Runs with inputs of zeros and prints the first bytes of each output. */
static qrt_status run(qrt_session* session, const qrt_model* model, qrt_error* error) {
  qrt_status status = QRT_OK;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; i < qrt_model_input_count(model) && status == QRT_OK; ++i) {
    qrt_session_input_info(session, i, &info);
    void* zeros = calloc(1, info.bytes);
    status = qrt_session_set_input_bytes(session, i, zeros, info.bytes, error);
    free(zeros);
  }
  if (status == QRT_OK) status = qrt_session_run(session, error);
  for (size_t i = 0; i < qrt_model_output_count(model) && status == QRT_OK; ++i) {
    qrt_session_output_info(session, i, &info);
    unsigned char* bytes = malloc(info.bytes);
    if (bytes == NULL) return QRT_OUT_OF_MEMORY;
    status = qrt_session_get_output_bytes(session, i, bytes, info.bytes, error);
    printf("%s:", info.name);
    for (size_t k = 0; k < info.bytes && k < 8 && status == QRT_OK; ++k) printf(" %02x", bytes[k]);
    printf("\n");
    free(bytes);
  }
  return status;
}

static qrt_status tour(const qrt_model* model, qrt_pool* pool, qrt_error* error) {
  qrt_session_options options;
  qrt_session_info info;
  qrt_struct_init(&options);
  qrt_struct_init(&info);
  options.pool = pool;
  options.profile = 1;  /* a time for each operator */
  options.keep_all = 1; /* every tensor is there after the run */
  qrt_status status = qrt_session_needed_memory(model, &options, &info, error);
  if (status != QRT_OK) return status;
  printf("a session on %s with %zu threads takes %zu bytes\n", info.isa, info.threads, info.memory);
  qrt_session* session;
  status = qrt_session_create(model, &options, &session, error);
  if (status != QRT_OK) return status;
  running = session;
  signal(SIGINT, on_interrupt);
  status = run(session, model, error);
  if (status == QRT_OK) {
    print_run(session);
    qrt_session_profile_reset(session);
    status = qrt_session_reset(session); /* states of recurrent layers begin anew */
    /* Sets another size of an open dimension: "batch", "seq", ...; without any the session stays as it is. */
    if (status == QRT_OK) status = qrt_session_reshape(session, NULL, 0, error);
  }
  signal(SIGINT, SIG_DFL);
  qrt_session_destroy(session);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: tour MODEL.qrt [THREADS]\n");
    return 2;
  }
  if (qrt_version_number() < QRT_VERSION_NUMBER)
    fprintf(stderr, "the library is older than its header\n");
  printf("instruction sets:");
  for (size_t i = 0; qrt_isa(i) != NULL; ++i) printf(" %s", qrt_isa(i));
  printf("\n");
  qrt_model* model = NULL;
  qrt_pool* pool = NULL;
  qrt_error error = {""};
  const int fd = open(argv[1], O_RDONLY);
  qrt_status status = qrt_model_load_fd(fd, 0, 0, NULL, &model, &error);
  if (fd >= 0) close(fd); /* the mapping stays */
  if (status == QRT_OK)
    status = qrt_pool_create(argc == 3 ? (size_t)atoi(argv[2]) : 1, &pool, &error);
  if (status == QRT_OK) {
    print_model(model);
    printf("threads: %zu\n", qrt_pool_threads(pool));
    status = tour(model, pool, &error);
  }
  qrt_pool_destroy(pool);
  qrt_model_destroy(model);
  return status == QRT_OK ? 0 : fail(status, &error);
}
