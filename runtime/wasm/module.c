/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the WebAssembly modules: qrt.h for JavaScript, which passes numbers and offsets in the
 * module's memory, and knows no structs. Functions that fill an info in qrt.h, such as qrt_js_tensor(), write its
 * fields to `words` and `numbers` instead. A function that can fail returns a qrt_status or a null pointer, and
 * leaves the message at qrt_js_message(). */
#include <qrt/qrt.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

static qrt_error error;
static qrt_status status;
static uint32_t words[16];
static double numbers[8];

static uint32_t at(const void* p) { return (uint32_t)(uintptr_t)p; }

/* ---- memory, and what the last call left ---- */

void* EXPORT(qrt_js_allocate)(size_t bytes) {
  const size_t aligned = (bytes + 127) / 64 * 64; /* with QRT_BUFFER_PADDING behind */
  return bytes > SIZE_MAX - 127 ? NULL : aligned_alloc(64, aligned);
}
void EXPORT(qrt_js_release)(void* p) { free(p); }
const char* EXPORT(qrt_js_message)(void) { return error.message; }
int EXPORT(qrt_js_status)(void) { return (int)status; }
const uint32_t* EXPORT(qrt_js_words)(void) { return words; }
const double* EXPORT(qrt_js_numbers)(void) { return numbers; }

const char* EXPORT(qrt_js_version)(void) { return qrt_version(); }
const char* EXPORT(qrt_js_isa)(size_t index) { return qrt_isa(index); }
const char* EXPORT(qrt_js_status_name)(int code) { return qrt_status_name((qrt_status)code); }
const char* EXPORT(qrt_js_dtype_name)(int dtype) { return qrt_dtype_name((qrt_dtype)dtype); }

/* words: the lower and the upper half of a 64-bit FNV-1a, of `bytes` more bytes. */
static uint64_t digest;
void EXPORT(qrt_js_digest_begin)(void) { digest = 0xcbf29ce484222325u; }
void EXPORT(qrt_js_digest_add)(const uint8_t* data, size_t bytes) {
  uint64_t d = digest;
  for (size_t i = 0; i < bytes; ++i) d = (d ^ data[i]) * 0x100000001b3u;
  digest = d;
  words[0] = (uint32_t)d;
  words[1] = (uint32_t)(d >> 32);
}

/* ---- model ---- */

/* `data` stays in use until the model and its sessions are destroyed. */
qrt_model* EXPORT(qrt_js_load)(const void* data, size_t bytes, int check) {
  qrt_load_options options;
  qrt_struct_init(&options);
  options.flags = check ? QRT_LOAD_CHECK : 0;
  qrt_model* model = NULL;
  status = qrt_model_load_memory(data, bytes, &options, &model, &error);
  return model;
}
void EXPORT(qrt_js_model_destroy)(qrt_model* model) { qrt_model_destroy(model); }
size_t EXPORT(qrt_js_input_count)(const qrt_model* model) { return qrt_model_input_count(model); }
size_t EXPORT(qrt_js_output_count)(const qrt_model* model) { return qrt_model_output_count(model); }
const char* EXPORT(qrt_js_metadata)(const qrt_model* model, const char* key) {
  return qrt_model_metadata(model, key);
}
const char* EXPORT(qrt_js_metadata_key)(const qrt_model* model, size_t index) {
  return qrt_model_metadata_key(model, index);
}

/* words: name, dtype, rank, dims, bytes, scales, zero points, their number, axis, layout, names of the dims. */
static int tell(qrt_status code, const qrt_tensor_info* info) {
  if (code != QRT_OK) return (int)code;
  const qrt_quantization* q = info->quantization;
  const uint32_t told[] = {at(info->name),         (uint32_t)info->dtype, (uint32_t)info->rank,
                           at(info->dims),         (uint32_t)info->bytes, at(q->scale),
                           at(q->zero_point),      (uint32_t)q->count,    (uint32_t)q->axis,
                           (uint32_t)info->layout, at(info->dim_names)};
  memcpy(words, told, sizeof told);
  return QRT_OK;
}
int EXPORT(qrt_js_input)(const qrt_model* model, size_t index) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  return tell(qrt_model_input_info(model, index, &info), &info);
}
int EXPORT(qrt_js_output)(const qrt_model* model, size_t index) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  return tell(qrt_model_output_info(model, index, &info), &info);
}

/* words: name; numbers: default, least, most, step. */
size_t EXPORT(qrt_js_dim_count)(const qrt_model* model) { return qrt_model_dim_count(model); }
int EXPORT(qrt_js_dim)(const qrt_model* model, size_t index) {
  qrt_dim_info info;
  qrt_struct_init(&info);
  const qrt_status code = qrt_model_dim_info(model, index, &info);
  if (code != QRT_OK) return (int)code;
  words[0] = at(info.name);
  numbers[0] = (double)info.default_size;
  numbers[1] = (double)info.least;
  numbers[2] = (double)info.most;
  numbers[3] = (double)info.step;
  return QRT_OK;
}

/* words: name, reference, default batch, operators. */
int EXPORT(qrt_js_model_info)(const qrt_model* model) {
  qrt_model_info info;
  qrt_struct_init(&info);
  const qrt_status code = qrt_model_get_info(model, &info);
  if (code != QRT_OK) return (int)code;
  words[0] = at(info.name);
  words[1] = at(info.reference);
  words[2] = (uint32_t)info.default_batch;
  words[3] = (uint32_t)info.op_count;
  return QRT_OK;
}

/* ---- session ---- */

/* dims: `count` qrt_dim, as JavaScript cannot know their layout made by qrt_js_set_dim(). */
qrt_dim* EXPORT(qrt_js_dims)(size_t count) { return calloc(count ? count : 1, sizeof(qrt_dim)); }
void EXPORT(qrt_js_set_dim)(qrt_dim* dims, size_t index, const char* name, double value) {
  dims[index].name = name;
  dims[index].value = (int64_t)value;
}

qrt_session* EXPORT(qrt_js_session)(const qrt_model* model, size_t batch, const qrt_dim* dims,
                                    size_t dim_count, const char* isa, int profile, int keep_all,
                                    double max_memory) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = batch;
  options.dims = dims;
  options.dim_count = dim_count;
  options.isa = isa;
  options.profile = profile;
  options.keep_all = keep_all;
  options.max_memory = (size_t)max_memory;
  qrt_session* session = NULL;
  status = qrt_session_create(model, &options, &session, &error);
  return session;
}
void EXPORT(qrt_js_session_destroy)(qrt_session* session) { qrt_session_destroy(session); }
int EXPORT(qrt_js_reshape)(qrt_session* session, const qrt_dim* dims, size_t dim_count) {
  return (int)qrt_session_reshape(session, dims, dim_count, &error);
}
size_t EXPORT(qrt_js_session_input_count)(const qrt_session* session) {
  size_t n = 0;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  while (qrt_session_input_info(session, n, &info) == QRT_OK) ++n;
  return n;
}
size_t EXPORT(qrt_js_session_output_count)(const qrt_session* session) {
  size_t n = 0;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  while (qrt_session_output_info(session, n, &info) == QRT_OK) ++n;
  return n;
}
int EXPORT(qrt_js_session_input)(const qrt_session* session, size_t index) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  return tell(qrt_session_input_info(session, index, &info), &info);
}
int EXPORT(qrt_js_session_output)(const qrt_session* session, size_t index) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  return tell(qrt_session_output_info(session, index, &info), &info);
}
void* EXPORT(qrt_js_input_data)(qrt_session* session, size_t index) {
  return qrt_session_input_data(session, index);
}
const void* EXPORT(qrt_js_output_data)(const qrt_session* session, size_t index) {
  return qrt_session_output_data(session, index);
}
int EXPORT(qrt_js_run)(qrt_session* session) { return (int)qrt_session_run(session, &error); }
int EXPORT(qrt_js_reset)(qrt_session* session) { return (int)qrt_session_reset(session); }

/* words: instruction set, threads, batch; numbers: bytes. */
int EXPORT(qrt_js_session_info)(const qrt_session* session) {
  qrt_session_info info;
  qrt_struct_init(&info);
  const qrt_status code = qrt_session_get_info(session, &info);
  if (code != QRT_OK) return (int)code;
  words[0] = at(info.isa);
  words[1] = (uint32_t)info.threads;
  words[2] = (uint32_t)info.batch;
  numbers[0] = (double)info.memory;
  return QRT_OK;
}

/* words: name, type, source operator, kernel, level; numbers: products, nanoseconds, runs. */
size_t EXPORT(qrt_js_op_count)(const qrt_session* session) { return qrt_session_op_count(session); }
int EXPORT(qrt_js_op)(const qrt_session* session, size_t index) {
  qrt_op_info info;
  qrt_struct_init(&info);
  const qrt_status code = qrt_session_op_info(session, index, &info);
  if (code != QRT_OK) return (int)code;
  words[0] = at(info.name);
  words[1] = at(info.type);
  words[2] = at(info.source_op);
  words[3] = at(info.kernel);
  words[4] = (uint32_t)info.level;
  numbers[0] = (double)info.macs;
  numbers[1] = (double)info.total_ns;
  numbers[2] = (double)info.runs;
  return QRT_OK;
}

/* Tensors that operators wrote, of a session with keep_all: words as of an input, and behind them where its
 * bytes are. */
size_t EXPORT(qrt_js_tensor_count)(const qrt_session* session) {
  return qrt_session_tensor_count(session);
}
int EXPORT(qrt_js_tensor)(const qrt_session* session, size_t index) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  const void* data = NULL;
  const int code = tell(qrt_session_tensor(session, index, &info, &data), &info);
  words[11] = at(data);
  return code;
}
