// SPDX-License-Identifier: Apache-2.0
// A table of calls that are a caller's mistake, of every function of qrt.h and image.h that gives a status:
// each has its status and its whole message, leaves no object behind, and takes nothing from the objects that
// it was given, which go on working.
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <qrt/image.h>
#include <qrt/qrt.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/frame_model.h"

namespace {

using qrt::testing::load_copy;

// The objects that the calls are given: a model of images and gates, its session, one of a batch of 2 whose
// first input is external, and a session that takes camera frames.
class Objects {
 public:
  Objects() : file(qrt::testing::every_op_model().build()) {
    const std::vector<uint8_t> frames = qrt::testing::frame_model().build();
    EXPECT_EQ(load_copy(file.data(), file.size(), &model, nullptr), QRT_OK);
    EXPECT_EQ(load_copy(frames.data(), frames.size(), &frame_model, nullptr), QRT_OK);
    EXPECT_EQ(qrt_session_create(model, nullptr, &session, nullptr), QRT_OK);
    EXPECT_EQ(qrt_session_create(frame_model, nullptr, &frame_session, nullptr), QRT_OK);
    EXPECT_EQ(qrt_pool_create(2, &pool, nullptr), QRT_OK);
    qrt_session_options options;
    qrt_struct_init(&options);
    options.external_inputs = &first;
    options.external_input_count = 1;
    EXPECT_EQ(qrt_session_create(model, &options, &external, nullptr), QRT_OK);
    qrt_struct_init(&image);
    EXPECT_EQ(qrt_session_input_info(session, 0, &image), QRT_OK);
    qrt_struct_init(&map);
    EXPECT_EQ(qrt_session_output_info(frame_session, 0, &map), QRT_OK);
    qrt_struct_init(&frame_input);
    EXPECT_EQ(qrt_session_input_info(frame_session, 0, &frame_input), QRT_OK);
  }
  Objects(const Objects&) = delete;
  ~Objects() {
    qrt_session_destroy(external);
    qrt_session_destroy(frame_session);
    qrt_session_destroy(session);
    qrt_pool_destroy(pool);
    qrt_model_destroy(frame_model);
    qrt_model_destroy(model);
  }

  std::vector<uint8_t> file;
  qrt_model *model = nullptr, *frame_model = nullptr;
  qrt_session *session = nullptr, *frame_session = nullptr, *external = nullptr;
  qrt_pool* pool = nullptr;
  qrt_tensor_info image, map, frame_input;
  const size_t first = 0;
  alignas(QRT_BUFFER_ALIGNMENT) uint8_t memory[4096] = {};
};

using Call = qrt_status (*)(Objects& o, qrt_error* error);
struct Misuse {
  const char* what;
  qrt_status status;
  const char*
      message;  // "*" stands for what differs with CPU and build; "": the function has no qrt_error
  Call call;
};

qrt_status load(const void* data, size_t size, const qrt_load_options* options, qrt_error* error) {
  qrt_model* model = reinterpret_cast<qrt_model*>(&error);
  const qrt_status status = qrt_model_load_memory(data, size, options, &model, error);
  EXPECT_EQ(model, nullptr);
  return status;
}

qrt_status load_path(const char* path, qrt_error* error) {
  qrt_model* model = reinterpret_cast<qrt_model*>(&error);
  const qrt_status status = qrt_model_load_file(path, nullptr, &model, error);
  EXPECT_EQ(model, nullptr);
  return status;
}

// A load of `part` of a temporary file that holds a model, from `offset` on.
qrt_status load_file_range(const Objects& o, uint64_t offset, uint64_t length, qrt_error* error) {
  FILE* file = tmpfile();
  EXPECT_EQ(fwrite(o.file.data(), 1, o.file.size(), file), o.file.size());
  fflush(file);
  qrt_model* model = reinterpret_cast<qrt_model*>(&error);
  const qrt_status status = qrt_model_load_fd(fileno(file), offset, length, nullptr, &model, error);
  EXPECT_EQ(model, nullptr);
  fclose(file);
  return status;
}

template <class Change>
qrt_status create(const Objects& o, qrt_error* error, Change change) {
  qrt_session_options options;
  qrt_struct_init(&options);
  change(options);
  qrt_session* session = reinterpret_cast<qrt_session*>(&error);
  const qrt_status status = qrt_session_create(o.model, &options, &session, error);
  EXPECT_EQ(session, nullptr);
  return status;
}

qrt_status create_with_dim(const Objects& o, const char* name, int64_t value, qrt_error* error) {
  const qrt_dim dim = {name, value};
  return create(o, error, [&](qrt_session_options& options) {
    options.dims = &dim;
    options.dim_count = 1;
  });
}

template <class Change>
qrt_status write_frame(Objects& o, qrt_error* error, Change change) {
  qrt_frame frame;
  qrt_struct_init(&frame);
  frame.format = QRT_RGB;
  frame.width = frame.height = 4;
  frame.planes[0] = o.memory;
  qrt_frame_options options;
  qrt_struct_init(&options);
  qrt_tensor_info input = o.frame_input;
  size_t index = 0;
  change(frame, options, input, index);
  return qrt_write_frame(&frame, &options, &input, index, o.memory + 2048, error);
}

struct Short {  // a struct that no qrt_struct_init() prepared
  size_t struct_size = 8;
  uint8_t rest[256] = {};
};

void no_task(void*, void (*)(void*, size_t), void*, size_t) {}
void no_release(void*, void*, size_t) {}
void* no_memory(void*, size_t, size_t) { return nullptr; }

const Misuse kMisuses[] = {
#include "tests/runtime/misuses.inc"
};

TEST(Misuse, EachHasItsStatusAndItsMessage) {
  Objects o;
  const float before = *static_cast<const float*>(qrt_session_output_data(o.session, 1));
  ASSERT_GE(std::size(kMisuses), 80u);
  for (const Misuse& m : kMisuses) {
    SCOPED_TRACE(m.what);
    qrt_error error;
    memset(&error, 'x', sizeof error);
    error.message[0] = '\0';
    EXPECT_EQ(m.call(o, &error), m.status);
    EXPECT_EQ(fnmatch(m.message, error.message, 0), 0) << error.message << "\nnot " << m.message;
    EXPECT_EQ(m.call(o, nullptr), m.status) << "without an error struct";
  }
  EXPECT_EQ(*static_cast<const float*>(qrt_session_output_data(o.session, 1)), before);
  EXPECT_EQ(qrt_session_run(o.session, nullptr), QRT_OK);
  EXPECT_EQ(qrt_session_run(o.frame_session, nullptr), QRT_OK);
}

// Functions without a status return nothing for nulls and for indices past the last.
TEST(Misuse, NullsAndIndicesPastTheLastGiveNothing) {
  Objects o;
  qrt_model_destroy(nullptr);
  qrt_session_destroy(nullptr);
  qrt_pool_destroy(nullptr);
  qrt_session_cancel(nullptr);
  qrt_session_profile_reset(nullptr);
  qrt_struct_init_size(nullptr, 64);
  EXPECT_EQ(qrt_model_input_count(nullptr), 0u);
  EXPECT_EQ(qrt_model_output_count(nullptr), 0u);
  EXPECT_EQ(qrt_pool_threads(nullptr), 0u);
  EXPECT_EQ(qrt_session_op_count(nullptr), 0u);
  EXPECT_EQ(qrt_session_tensor_count(nullptr), 0u);
  EXPECT_EQ(qrt_session_tensor_count(o.session), 0u);
  EXPECT_EQ(qrt_model_find_input(nullptr, "image"), SIZE_MAX);
  EXPECT_EQ(qrt_model_find_input(o.model, nullptr), SIZE_MAX);
  EXPECT_EQ(qrt_model_find_output(o.model, ""), SIZE_MAX);
  EXPECT_EQ(qrt_model_metadata(nullptr, "name"), nullptr);
  EXPECT_EQ(qrt_model_metadata(o.model, nullptr), nullptr);
  EXPECT_EQ(qrt_model_metadata(o.model, ""), nullptr);
  EXPECT_EQ(qrt_model_metadata_key(nullptr, 0), nullptr);
  EXPECT_EQ(qrt_model_metadata_key(o.model, SIZE_MAX), nullptr);
  EXPECT_EQ(qrt_session_input_data(nullptr, 0), nullptr);
  EXPECT_EQ(qrt_session_input_data(o.session, 2), nullptr);
  EXPECT_EQ(qrt_session_input_data(o.external, 0), nullptr);
  EXPECT_EQ(qrt_session_output_data(nullptr, 0), nullptr);
  EXPECT_EQ(qrt_session_output_data(o.session, SIZE_MAX), nullptr);
  EXPECT_EQ(qrt_isa(1000), nullptr);
  EXPECT_STREQ(qrt_status_name(static_cast<qrt_status>(99)), "unknown");
  EXPECT_STREQ(qrt_dtype_name(static_cast<qrt_dtype>(-1)), "unknown");
  EXPECT_EQ(qrt_dtype_size(static_cast<qrt_dtype>(99)), 0u);
}

}  // namespace
