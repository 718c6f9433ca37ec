/* SPDX-License-Identifier: Apache-2.0 */
/* qrt: exact integer inference of quantised neural networks. The whole C API (C99 or newer);
 * qrt.hpp wraps it for C++, and image.h brings camera frames and arrays into a model's inputs.
 *
 * Objects:  qrt_model    a verified .qrt file. May be used by several threads at once: what it computes
 *                        for a session it keeps for the next ones (shared_memory).
 *           qrt_session  a model ready to run at certain sizes, with its memory. Used by one
 *                        thread at a time (but for qrt_session_cancel). Several sessions of one
 *                        model may run at once, each on a thread of the caller's.
 *           qrt_pool     threads that sessions share. May be used by several threads at once.
 * Order:    load a model, create a session, fill its inputs, run, read its outputs. After creation,
 *           qrt_session_run() neither allocates nor fails (but where another thread cancels it, or
 *           buffers were bound that cannot be).
 * Errors:   every function that can fail returns a qrt_status; where `error` is not NULL, a message
 *           is written there ("" for QRT_OK, or a warning). Nothing throws or aborts. On failure
 *           output parameters are set to NULL or left alone. Every function may give
 *           QRT_INVALID_ARGUMENT (a required pointer is NULL, an index is past the last, a struct's
 *           size is not set), and those that create an object QRT_OUT_OF_MEMORY; what else it may give
 *           stands at the function.
 * Structs:  those that begin with struct_size are made ready by qrt_struct_init(&options): the size
 *           tells which fields the caller's header has, and all others are 0, which means the default.
 *           A function that fills a struct leaves what is behind that size alone, and sets to 0 what
 *           an older library does not know. Other structs never change.
 * Strings:  returned strings are NUL-terminated and live as long as the object they come from.
 * State:    results do not depend on the caller's floating-point state (rounding mode, flushing of
 *           subnormals, traps). Functions that compute set their own and restore the caller's.
 * Stack:    64 KiB are enough for a thread that calls any of these functions, or runs a session's tasks;
 *           128 KiB where the CPU has AMX, unless options.isa is "avx512vbmi".
 * Fork:     a child of fork() may use and destroy its parent's models, sessions and pools, but for
 *           those that a call on another thread was using at the time. It has none of the parent's
 *           threads: a session of the parent's runs on the calling thread alone, and so does a new one
 *           that is given a pool of the parent's; results are the same. Sessions and pools that the
 *           child makes have threads of their own.
 */
#ifndef QRT_QRT_H_
#define QRT_QRT_H_

#include <stddef.h>
#include <stdint.h>

#if defined(QRT_STATIC) || defined(_WIN32) /* there a list names what is exported */
#define QRT_API
#else
#define QRT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define QRT_VERSION_MAJOR 0
#define QRT_VERSION_MINOR 2
#define QRT_VERSION_PATCH 0
/* 10000 * major + 100 * minor + patch, of this header; qrt_version_number() of the library. */
#define QRT_VERSION_NUMBER (10000 * QRT_VERSION_MAJOR + 100 * QRT_VERSION_MINOR + QRT_VERSION_PATCH)

typedef enum qrt_status {
  QRT_OK = 0,
  QRT_INVALID_ARGUMENT = 1, /* the caller's mistake */
  QRT_INVALID_MODEL = 2,    /* the file is damaged or not a model */
  QRT_UNSUPPORTED = 3,      /* valid, but this build cannot run it */
  QRT_OUT_OF_MEMORY = 4,
  QRT_IO_ERROR = 5,    /* the file cannot be read */
  QRT_INTERNAL = 6,    /* a bug of qrt */
  QRT_CANCELLED = 7,   /* by qrt_session_cancel() */
  QRT_OUT_OF_RANGE = 8 /* a size outside its dimension's bounds, an index outside its table */
} qrt_status;

/* Owned by the caller. */
typedef struct qrt_error {
  char message[512];
} qrt_error;

typedef struct qrt_model qrt_model;
typedef struct qrt_session qrt_session;

typedef enum qrt_dtype {
  QRT_UINT8 = 0,
  QRT_INT8 = 1,
  QRT_UINT16 = 2,
  QRT_INT16 = 3,
  QRT_INT32 = 4,
  QRT_INT64 = 5,
  QRT_FLOAT32 = 6,
  QRT_FLOAT16 = 7,
  QRT_BFLOAT16 = 8,
  QRT_BOOL = 9, /* a byte, 0 or 1 */
  QRT_UINT32 = 10,
  QRT_INT4 = 11, /* 4 and 2 bits: packed, the first element in the lowest bits of byte 0 */
  QRT_UINT4 = 12,
  QRT_INT2 = 13,
  QRT_UINT2 = 14,
  QRT_FLOAT8E4M3FN = 15,
  QRT_FLOAT8E4M3FNUZ = 16,
  QRT_FLOAT8E5M2 = 17,
  QRT_FLOAT8E5M2FNUZ = 18,
  QRT_FLOAT8E8M0 = 19,
  QRT_FLOAT4E2M1 = 20 /* packed */
} qrt_dtype;

/* No tensor has more dimensions. */
#define QRT_MAX_RANK 8

/* real = (q - zero_point) * scale. count 0: not quantised; 1: per tensor; else one pair per index
 * of axis. Never changes: `quantization` of an info may point to a longer struct one day. */
typedef struct qrt_quantization {
  const float* scale;        /* `count` values */
  const int32_t* zero_point; /* as many, each within the dtype's range */
  size_t count;
  int axis; /* -1: per tensor */
} qrt_quantization;

/* Tells which dimensions of a tensor are an image's channels, rows and columns. */
typedef enum qrt_layout {
  QRT_LAYOUT_NONE = 0,   /* no image, or the model does not tell */
  QRT_CHANNELS_LAST = 1, /* [batch, height, width, channels] */
  QRT_CHANNELS_FIRST = 2 /* [batch, channels, height, width] */
} qrt_layout;

/* The size of a dimension that a model leaves open. */
typedef struct qrt_dim {
  const char* name;
  int64_t value;
} qrt_dim;

/* Makes a struct ready that begins with struct_size: qrt_session_options options;
 * qrt_struct_init(&options); The function is for languages without macros. NULL is allowed. */
QRT_API void qrt_struct_init_size(void* given, size_t struct_size);
#define qrt_struct_init(pointer) qrt_struct_init_size((pointer), sizeof *(pointer))

typedef struct qrt_tensor_info {
  size_t struct_size;
  const char* name;
  qrt_dtype dtype;
  int rank; /* at most QRT_MAX_RANK */
  const int64_t*
      dims;     /* `rank` of them, row-major, in the source model's order; of a model: -1 is an open
                          dimension, such as the batch */
  size_t bytes; /* of a model: at its default batch and sizes */
  const qrt_quantization* quantization; /* never NULL */
  qrt_layout layout;                    /* of a model's or session's inputs */
  /* The names of a model's input or output dimensions: `rank` strings, each a name, "batch", "seq", or a
   * formula, "(w + 1) / 2". An entry is NULL where the dimension is fixed, or where an output's depends
   * on open ones in another way. NULL in infos of a session. */
  const char* const* dim_names;
} qrt_tensor_info;

/* ---- library ---- */

/* "MAJOR.MINOR.PATCH (commit, compiler)" */
QRT_API const char* qrt_version(void);
QRT_API int qrt_version_number(void);
/* Returns a name such as "OUT_OF_MEMORY" or "uint8"; "unknown" for any other number. The strings are static. */
QRT_API const char* qrt_status_name(qrt_status status);
QRT_API const char* qrt_dtype_name(qrt_dtype dtype);
/* Returns the bytes of an element; 0 for the packed types, and for any other number. */
QRT_API size_t qrt_dtype_size(qrt_dtype dtype);

/* Returns the name of an instruction set that is usable on this CPU, in ascending order, "scalar"
 * first; NULL past the last. */
QRT_API const char* qrt_isa(size_t index);

/* Takes a warning: a line without its end, valid during the call. Called on the thread that called the
 * function of this API that has something to say. */
typedef void (*qrt_log_fn)(void* context, const char* message);

/* ---- model ---- */

enum {
  /* copy the bytes; otherwise they are borrowed and must outlive the model and its sessions */
  QRT_LOAD_COPY = 1,
  /* compare the bytes with the checksum at the file's end: QRT_INVALID_MODEL where they differ. This
   * reads the whole file. A file of an older converter has no checksum and is loaded unchecked. */
  QRT_LOAD_CHECK = 2
};

typedef struct qrt_load_options {
  size_t struct_size;
  unsigned flags; /* QRT_LOAD_CHECK; QRT_LOAD_COPY, for qrt_model_load_memory() */
  /* Bytes that the model may hold beside the file's mapping or the caller's bytes: copied bytes, and
   * weights of 4 and 2 bits as they are unpacked; not its own tables, some hundred bytes for a tensor.
   * 0: these alone limit it (at most 17 times the file). Beyond: QRT_OUT_OF_MEMORY. */
  size_t max_memory;
  /* Is called with a message where the model's bytes had to be copied because they are not
   * aligned to 64; or NULL. */
  qrt_log_fn log;
  void* log_context;
} qrt_load_options;

/* Maps the file and verifies it: QRT_IO_ERROR where it cannot be read, QRT_INVALID_MODEL where it is
 * no sound model, QRT_UNSUPPORTED where this build lacks what it needs. options may be NULL. The file
 * must not change while the model or a session of it is in use: replace it by renaming another over it.
 * A write to it changes results unseen, and one that is cut short makes the system end the program with
 * SIGBUS at the next read of what is missing. Where others may change the file, read it into memory and
 * load it by qrt_model_load_memory() with QRT_LOAD_COPY. */
QRT_API qrt_status qrt_model_load_file(const char* path, const qrt_load_options* options,
                                       qrt_model** model, qrt_error* error);

/* Verifies `size` bytes; statuses as above. Without QRT_LOAD_COPY the bytes are used in place if `data`
 * is aligned to 64 (else copied) and must not change. options may be NULL. */
QRT_API qrt_status qrt_model_load_memory(const void* data, size_t size,
                                         const qrt_load_options* options, qrt_model** model,
                                         qrt_error* error);

/* Maps `length` bytes of a file from any `offset` on, as of a package that holds models uncompressed;
 * length 0: to the file's end. Where the offset is no multiple of 64 they are copied. The descriptor
 * may be closed afterwards. options may be NULL. Statuses as of qrt_model_load_file();
 * QRT_INVALID_ARGUMENT where the file ends before. */
QRT_API qrt_status qrt_model_load_fd(int fd, uint64_t offset, uint64_t length,
                                     const qrt_load_options* options, qrt_model** model,
                                     qrt_error* error);

/* Sessions keep what they need: a model may be destroyed before its sessions. NULL is allowed. */
QRT_API void qrt_model_destroy(qrt_model* model);

QRT_API size_t qrt_model_input_count(const qrt_model* model);
QRT_API size_t qrt_model_output_count(const qrt_model* model);
/* Fills info. Fails with QRT_INVALID_ARGUMENT past the last, and where info->struct_size is not
 * set. Pointers in info live as long as the model. */
QRT_API qrt_status qrt_model_input_info(const qrt_model* model, size_t index,
                                        qrt_tensor_info* info);
QRT_API qrt_status qrt_model_output_info(const qrt_model* model, size_t index,
                                         qrt_tensor_info* info);
/* Returns the index of the first input or output of that name; SIZE_MAX if there is none. */
QRT_API size_t qrt_model_find_input(const qrt_model* model, const char* name);
QRT_API size_t qrt_model_find_output(const qrt_model* model, const char* name);
/* Returns the model's "producer", "source_format", "source_producer", "reference", "name", or the
 * value of a key of the file's metadata; NULL if absent. The reference says whose bits the model
 * gives, such as "ort-x64-fma"; one that ends in "+float" has operators in floating point, whose
 * last bits may differ from that. */
QRT_API const char* qrt_model_metadata(const qrt_model* model, const char* key);
/* Returns a key of the file's metadata by index, for qrt_model_metadata(); NULL past the last. */
QRT_API const char* qrt_model_metadata_key(const qrt_model* model, size_t index);
typedef struct qrt_model_info {
  size_t struct_size;
  const char* name;      /* or NULL */
  const char* reference; /* whose bits the model gives, as qrt_model_metadata() tells; or NULL */
  /* The greatest level of its operators, as in qrt_op_info: 0 if all is integers between the edges. */
  int level;
  size_t
      default_batch; /* used where the caller names none; 0 if the model's shapes hold no batch */
  size_t op_count;
  size_t file_bytes;
  /* Bytes that the model keeps for further sessions, even when no session is left: the plans that were
   * used last. It keeps at most eight plans, and at most 256 MiB unless a single plan takes more. A table
   * that several plans share is counted once for each of them. */
  size_t shared_memory;
} qrt_model_info;

/* Pointers in info live as long as the model. */
QRT_API qrt_status qrt_model_get_info(const qrt_model* model, qrt_model_info* info);

/* Dimensions that the model leaves open: the sizes of inputs that are chosen for a session. */
typedef struct qrt_dim_info {
  size_t struct_size;
  const char* name;
  int64_t default_size; /* used where the caller names none */
  /* Legal sizes are least, least + step, least + 2 * step, ... up to most. Files of qrt_convert are refused
   * at such a size only for want of memory, or where sizes of several dimensions do not fit each other, as
   * lengths of tensors that are added; other files may be for any reason. A least size of 0 means that
   * inputs may be empty: tensors of 0 bytes. */
  int64_t least, most, step;
} qrt_dim_info;

QRT_API size_t qrt_model_dim_count(const qrt_model* model);
/* Fills info. Fails with QRT_INVALID_ARGUMENT past the last, and where info->struct_size is not
 * set. Pointers in info live as long as the model. */
QRT_API qrt_status qrt_model_dim_info(const qrt_model* model, size_t index, qrt_dim_info* info);

/* ---- threads ---- */

/* Threads for any number of sessions (options.pool): 1 to 1024, the one that calls qrt_session_run()
 * among them; fewer where the system would not start more. Sessions of one pool may run at
 * the same time on threads of the caller's: they take the pool in turns, a whole run at a time where
 * the model is worth it. */
typedef struct qrt_pool qrt_pool;
QRT_API qrt_status qrt_pool_create(size_t threads, qrt_pool** pool, qrt_error* error);
QRT_API size_t qrt_pool_threads(const qrt_pool* pool);
/* Sessions keep the threads: a pool may be destroyed before them. NULL is allowed. */
QRT_API void qrt_pool_destroy(qrt_pool* pool);

/* ---- session ---- */

/* Runs task(argument, i) for every i < count on any threads; returns when all are done. */
typedef void (*qrt_parallel_fn)(void* context, void (*task)(void* argument, size_t index),
                                void* argument, size_t count);

/* Returns `bytes` bytes aligned to `alignment`, a power of two, or NULL where there are none. */
typedef void* (*qrt_allocate_fn)(void* context, size_t bytes, size_t alignment);
typedef void (*qrt_release_fn)(void* context, void* memory, size_t bytes);

typedef struct qrt_session_options {
  size_t struct_size;
  size_t batch; /* 0: the model's default */
  /* Sizes of open dimensions by name, "batch" among them; those that are not named have their default.
   * QRT_OUT_OF_RANGE for a size that is no size of that dimension, QRT_INVALID_ARGUMENT for a name that is
   * none of the model's (qrt_model_dim_info) and where the model cannot run at these sizes. */
  const qrt_dim* dims;
  size_t dim_count;
  /* 0 or 1: the calling thread alone. With `pool`: how many of its threads at most; 0: all. With a
   * pool of the caller's: how many chunks to make; 0: as many as the pthreadpool has threads. qrt's
   * own work on no more CPUs than the process may use when they are made, by its affinity mask and its
   * cgroup's quota (of 2.5: on 2), and no run waits for one that another program's thread keeps from
   * its core before it has begun; where several threads are slower than the calling one alone for tens
   * of milliseconds, runs take the latter for a while. */
  size_t threads;
  /* Best instruction set allowed, "avx2"; NULL: QRT_ISA of the environment, else no cap. A QRT_ISA that
   * names none of this architecture is ignored with a warning. */
  const char* isa;
  int profile; /* record a time per operator at every run (about 50 ns each) */
  /* Give every tensor memory of its own, readable after run (for debugging: takes more memory). */
  int keep_all;
  /* A pthreadpool_t of the caller's to use; must outlive the session. QRT_UNSUPPORTED in a build without
   * that library. */
  void* pthreadpool;
  qrt_parallel_fn parallel; /* or the caller's own pool; of these and `pool` one at most */
  void* parallel_context;
  /* The provider of kernels: NULL or "qrt". For comparisons, where built in: "xnnpack",
   * XNNPACK's operators where they give the same bytes; "xnnpack-all", wherever XNNPACK has one. */
  const char* kernels;
  /* Bytes that the session may hold: arena, inputs and outputs but external ones, scratch, and tables,
   * convolutions' and all others. 0: 2 GiB and 64 times the file's size, for every default_batch
   * images. Beyond: QRT_OUT_OF_MEMORY, before they are allocated. A session that would need more does
   * without its faster forms of convolutions, whose tables are larger, where that is enough. */
  size_t max_memory;
  qrt_pool* pool; /* or NULL: threads of the session's own */
  /* Indices of inputs and outputs for which the session holds no memory: before the first run
   * qrt_session_bind_input(), or _output(), has to give each of them its own. */
  const size_t* external_inputs;
  size_t external_input_count;
  const size_t* external_outputs;
  size_t external_output_count;
  /* The source of the session's block of memory, in which its tensors and scratch stand
   * (qrt_session_info.block_bytes); NULL: the system. qrt_session_create() calls `allocate` at most once,
   * and fails with QRT_OUT_OF_MEMORY where that returns NULL or memory that is not aligned.
   * qrt_session_destroy() calls `release`, which may be NULL. qrt_session_reshape() calls both when the
   * block is too small for the new sizes. */
  qrt_allocate_fn allocate;
  qrt_release_fn release;
  void* allocator_context;
  /* Is called with a message where something is not as it was asked for, though results are the same:
   * a QRT_ISA that was ignored, threads that the system did not start, slower forms of convolutions
   * for want of memory. Or NULL. The last of these stands in the error's message, too, with QRT_OK. */
  qrt_log_fn log;
  void* log_context;
  /* Sizes, as in `dims`, for which the session's block of memory is large enough from the start, so that
   * qrt_session_reshape() to these or smaller ones takes no other. NULL: only for its own sizes. */
  const qrt_dim* max_dims;
  size_t max_dim_count;
  /* 1: the model keeps no plan of this session's for others or for later, and each qrt_session_reshape() plans
   * anew, in memory of the session's own. With max_dims this memory is large enough from the start: going on at
   * sizes up to these then asks the system for no memory, unless `profile` is set, the pool is the caller's, or the
   * kernels for these sizes use tables of weights that neither those for the largest nor those before use. */
  int private_plans;
} qrt_session_options;

/* Creates a session; options may be NULL. Inputs are 0 until they are set. Fails with
 * QRT_INVALID_ARGUMENT for options that make no sense, a batch the model cannot run at among them;
 * QRT_OUT_OF_MEMORY also for sizes at which a tensor is larger than can be counted; QRT_UNSUPPORTED where
 * this build or CPU lacks what the model or the options need. */
QRT_API qrt_status qrt_session_create(const qrt_model* model, const qrt_session_options* options,
                                      qrt_session** session, qrt_error* error);
/* Frees the session; not during a run. NULL is allowed. */
QRT_API void qrt_session_destroy(qrt_session* session);

typedef struct qrt_session_info {
  size_t struct_size;
  const char* isa; /* the best instruction set that its kernels may use */
  /* Threads that share the work of a run, the calling one among them. Fewer than options.threads where
   * the system would not start more, and 1 in a child of fork(): results are the same, the run takes
   * longer. */
  size_t threads;
  size_t batch;
  const qrt_dim* dims; /* the sizes of the model's open dimensions */
  size_t dim_count;
  size_t memory; /* bytes that it holds, without the model's own */
  /* The size of the one block that options.allocate gives, part of `memory`, and its alignment. */
  size_t block_bytes, block_alignment;
  /* The part of `memory` that exists once for all sessions of the model with equal options: the plan and
   * its tables, such as transformed weights. Every session counts it in full, also against max_memory.
   * Sessions with other options (another batch or size, for example) have another plan, but share the tables that
   * are the same in both. */
  size_t shared_memory;
} qrt_session_info;

/* Pointers in info live as long as the session. */
QRT_API qrt_status qrt_session_get_info(const qrt_session* session, qrt_session_info* info);

/* Tells what a session with these options would be and hold, without making it, and also where that is
 * more than max_memory; only the tables made to find out are kept below that. The model keeps them for
 * the session. Pointers in info live as long as the model. */
QRT_API qrt_status qrt_session_needed_memory(const qrt_model* model,
                                             const qrt_session_options* options,
                                             qrt_session_info* info, qrt_error* error);

/* Goes on at other sizes of open dimensions, those that are not named staying as they are. Plans for the
 * new sizes, unless the model still keeps such a plan (qrt_model_info.shared_memory), and uses the
 * session's block of memory where that is large enough (options.max_dims), otherwise a new one, for which
 * both have to be there for a moment.
 * Inputs are 0 until they are set again, and what outputs hold is of no use. The model's states stay where
 * their shape does, and take their initial values otherwise. Buffers stay bound to inputs and outputs
 * whose size stays; the others have to be bound again. Pointers from qrt_session_input_data(),
 * _output_data(), _tensor() and infos of the session are no longer valid; times of a profile begin anew.
 * Does nothing where all sizes are what they were.
 * QRT_OUT_OF_RANGE and QRT_INVALID_ARGUMENT as of options.dims; QRT_OUT_OF_MEMORY, also beyond max_memory;
 * QRT_UNSUPPORTED in a library that was built without it (QRT_OPS: OpenDims).
 * On failure the session is as it was. Not during a run. */
QRT_API qrt_status qrt_session_reshape(qrt_session* session, const qrt_dim* dims, size_t dim_count,
                                       qrt_error* error);

/* Fill info as qrt_model_input_info() and _output_info(), with the dimensions and bytes at the session's sizes. */
QRT_API qrt_status qrt_session_input_info(const qrt_session* session, size_t index,
                                          qrt_tensor_info* info);
QRT_API qrt_status qrt_session_output_info(const qrt_session* session, size_t index,
                                           qrt_tensor_info* info);

/* Copies `count` elements in. QRT_INVALID_ARGUMENT where type or number are not the input's: nothing is
 * converted (image.h does). NaN in a float32 input that the model quantises becomes the least number of its type. */
QRT_API qrt_status qrt_session_set_input(qrt_session* session, size_t index, qrt_dtype dtype,
                                         const void* data, size_t count, qrt_error* error);
/* Copies `count` elements out. */
QRT_API qrt_status qrt_session_get_output(const qrt_session* session, size_t index, qrt_dtype dtype,
                                          void* data, size_t count, qrt_error* error);
/* Copies bytes of any type in and out; `bytes` must equal the tensor's. */
QRT_API qrt_status qrt_session_set_input_bytes(qrt_session* session, size_t index, const void* data,
                                               size_t bytes, qrt_error* error);
QRT_API qrt_status qrt_session_get_output_bytes(const qrt_session* session, size_t index,
                                                void* data, size_t bytes, qrt_error* error);

/* Returns the buffer that runs read or write, the session's own (aligned to 64) or the one bound to
 * it: write inputs and read outputs there to save the copies. NULL past the last, and for an external
 * one that is not bound. An input's content survives run(); an output's until the next run(). */
QRT_API void* qrt_session_input_data(qrt_session* session, size_t index);
QRT_API const void* qrt_session_output_data(const qrt_session* session, size_t index);

/* Returns how many entries of an output the last run has filled. Non-maximum suppression (NonMaxSuppression)
 * and NonZero find as many as a run has: their output has room for all that there may be, and -1 behind the
 * last one. The entries of NonMaxSuppression are the rows [count, 3], those of NonZero its columns [rank, count], or
 * the rows of its transpose. Every other output is filled as a whole: its dimension 0, or 1 where it has no dimensions.
 * 0 past the last output, and for an external one that is not bound. */
QRT_API size_t qrt_session_output_count(const qrt_session* session, size_t index);

/* A buffer is aligned to QRT_BUFFER_ALIGNMENT. Kernels load whole vectors, up to QRT_BUFFER_PADDING bytes behind
 * the tensor's: these may hold anything, and may change during a run. Where a buffer has room for them, no copy is
 * made; nor where it has none but they lie in the page (of 4096 bytes) of the tensor's last byte, so that they can
 * be read whoever owns them; nor where the operators that read it load no more than its bytes, as Quantize,
 * Transpose and Gather. A copy is only made where the page ends there, too, and of memory that is
 * watched byte by byte: in a library built with a sanitizer or for valgrind (-DQRT_VALGRIND), and behind tagged
 * pointers. */
#define QRT_BUFFER_ALIGNMENT 64
#define QRT_BUFFER_PADDING 64

/* From the next run on, input `index` is read from the caller's memory: `capacity` bytes from `data`
 * on, which are the tensor's, the padding, and any more. They must stay until another buffer is bound or
 * the session is destroyed, and must not change during a run; nothing writes to them. Inputs may be bound
 * to one buffer. NULL: the session's own memory again.
 * Where a copy has to be made (see above), it is made in the session's memory at the beginning of each run. For an
 * external input that takes memory of its own, which qrt_session_info.memory then counts: QRT_OUT_OF_MEMORY where
 * max_memory has no room for it.
 * May be called before every run, with another frame each time: takes no longer than writing the
 * pointers to the tensor that the session keeps (for a convolution that reads it directly: a table
 * as long as its output has pixels times the kernel's positions). */
QRT_API qrt_status qrt_session_bind_input(qrt_session* session, size_t index, const void* data,
                                          size_t capacity, qrt_error* error);
/* Makes runs write an output to the caller's memory. Operators that share the output's memory (views
 * and changes in place) write there, too, so that the buffer may hold anything while a run goes on. It
 * must not overlap the memory of another output or of an input. Where a copy has to be made because an
 * operator reads the output again, it is copied there at the end of each run. */
QRT_API qrt_status qrt_session_bind_output(qrt_session* session, size_t index, void* data,
                                           size_t capacity, qrt_error* error);

/* Fails for session == NULL; after qrt_session_cancel(); with QRT_INVALID_ARGUMENT, nothing done, where an
 * external input or output is not bound or an output's buffer overlaps another, which the message names; and
 * with QRT_OUT_OF_RANGE where a model looks up rows of a table by an input's values (the ids of a text's tokens)
 * and the table has no such row, or where an input gives the lengths of sequences and one is beyond their steps.
 * An id below 0 counts from the table's end. The message names id and table, or length and sequence, outputs are of
 * no use then, and what the model keeps between runs is as it was. Nothing else fails. */
QRT_API qrt_status qrt_session_run(qrt_session* session, qrt_error* error);

/* Cancels, from any thread, the run in progress, or else the next one: it ends with QRT_CANCELLED
 * after the operator that it is at. Its outputs are of no use; inputs, and what the model keeps
 * between runs, are as they were before it. The session must outlive the call. NULL is allowed. */
QRT_API void qrt_session_cancel(qrt_session* session);

/* Gives everything that the model keeps between runs (the state of recurrent layers) its initial
 * value again, as in a new session. Inputs keep their content. Fails only for session == NULL. */
QRT_API qrt_status qrt_session_reset(qrt_session* session);

/* States: the tensors that the model keeps between runs, in the order of its file; those that qrt_convert
 * --state made have the name of the source's input. With their bytes, elements as of an input, a stream can be
 * parked and go on later in this or another session of the same file at the same sizes, on any CPU and with any
 * options, with the same results. Another file, be it of the same source, may keep other things. */
QRT_API size_t qrt_session_state_count(const qrt_session* session);
/* Fills info. Fails with QRT_INVALID_ARGUMENT past the last, and where info->struct_size is not
 * set. Pointers in info live as long as the session, until a reshape. */
QRT_API qrt_status qrt_session_state_info(const qrt_session* session, size_t index,
                                          qrt_tensor_info* info);
/* Returns the index of the first state of that name; SIZE_MAX if there is none. */
QRT_API size_t qrt_session_find_state(const qrt_session* session, const char* name);
/* Copies a state out: what the last run that ended with QRT_OK has left. `bytes` must equal the state's. Not
 * during a run. */
QRT_API qrt_status qrt_session_get_state(const qrt_session* session, size_t index, void* data,
                                         size_t bytes, qrt_error* error);
/* Copies a state in, for the next run; the others stay as they are. `bytes` must equal the state's. A state,
 * like an input, may hold any bytes. Not during a run. */
QRT_API qrt_status qrt_session_set_state(qrt_session* session, size_t index, const void* data,
                                         size_t bytes, qrt_error* error);

typedef struct qrt_op_info {
  size_t struct_size;
  const char* name;        /* of the source node */
  const char* type;        /* "Conv2D" */
  const char* source_op;   /* "Conv+Relu" */
  const char* kernel;      /* "gemm_u8s8_6x64_k4_avx512vnni"; nothing to do: "view", "in place" */
  int level;               /* 0: I0, 1: I1, 2: F (float), -1: an edge (quantise, dequantise) */
  uint64_t macs;           /* multiply-accumulates of one run */
  uint64_t bytes;          /* read and written by one run: inputs, constants, outputs; views: 0 */
  uint64_t total_ns;       /* with profile: time over all runs since the last reset */
  uint64_t runs;           /* with profile */
  uint64_t constant_bytes; /* of `bytes`: weights, biases, tables */
  /* Index of the operator that does this one's work on every piece of its own output, and whose
   * time includes it; of this operator itself otherwise. */
  size_t runs_in;
} qrt_op_info;

/* Operators in the order of their execution. QRT_INVALID_ARGUMENT past the last, and where
 * info->struct_size is not set. Pointers in info live as long as the session. */
QRT_API size_t qrt_session_op_count(const qrt_session* session);
QRT_API qrt_status qrt_session_op_info(const qrt_session* session, size_t index, qrt_op_info* info);
/* Sets total_ns and runs of all operators to 0. Does nothing in a session without `profile`. */
QRT_API void qrt_session_profile_reset(qrt_session* session);

/* With keep_all: tensors that operators wrote, in execution order; without: none. QRT_INVALID_ARGUMENT
 * past the last. info and data may be NULL; *data, whose layout is info's, is valid until the next
 * run. */
QRT_API size_t qrt_session_tensor_count(const qrt_session* session);
QRT_API qrt_status qrt_session_tensor(const qrt_session* session, size_t index,
                                      qrt_tensor_info* info, const void** data);

#ifdef __cplusplus
}
#endif

#endif /* QRT_QRT_H_ */
