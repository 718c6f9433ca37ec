// SPDX-License-Identifier: Apache-2.0
// Convolutions whose kernels take a range of an image's output rows: how these are cut and handed out.
#ifndef QRT_RUNTIME_OPS_CONV2D_ROW_RANGES_H_
#define QRT_RUNTIME_OPS_CONV2D_ROW_RANGES_H_

#include <algorithm>
#include <cstddef>

#include "runtime/checked.h"
#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/tasks.h"

namespace qrt {

struct RowRanges {
  size_t images, tasks;
  size_t rows;          // the most rows of a range
  size_t task_scratch;  // bytes

  RowRanges() = default;
  // `ns`: an estimate for all; scratch: bytes of a range.
  RowRanges(const PrepareContext& context, const Conv2DGeometry& g, double ns, size_t most_rows,
            size_t scratch)
      : images(g.images),
        tasks(task_count(ns, g.images * g.out_h, context.threads)),
        rows(most_rows),
        task_scratch(round_up(scratch, kAlignment)) {}
  size_t scratch_bytes() const { return tasks * task_scratch; }
};

// Calls kernel(args) for all rows of all images, strip by strip. `job`: the arguments other than x,
// y, rows and scratch; x_pitch and `channels`: of the input's and the output's pixels.
template <class Args>
void run_row_ranges(const Step& step, const RunContext& context, const RowRanges& ranges,
                    void (*kernel)(const Args&), const Args& job, size_t x_pitch, size_t channels) {
  const auto& s = job.shape;
  const uint8_t* const x = context.in(step, 0);
  uint8_t* const y = context.out(step, 0);
  for_chunks(*context.parallel, ranges.tasks, ranges.images * s.out_h, 1,
             [&](size_t task, size_t begin, size_t end) {
               Args args = job;
               args.scratch = context.scratch + task * ranges.task_scratch;
               while (begin < end) {
                 const size_t image = begin / s.out_h;
                 args.x = x + image * s.in_h * s.in_w * x_pitch;
                 args.y = y + image * s.out_h * s.out_w * job.y_pitch;
                 args.row_begin = begin % s.out_h;
                 const size_t rows = std::min(end - begin, s.out_h - args.row_begin);
                 // The ranges are as even as can be.
                 args.row_end = args.row_begin + ceil_div(rows, ceil_div(rows, ranges.rows));
                 kernel(args);
                 const size_t done = args.row_end - args.row_begin;
                 if (step.follower != nullptr)
                   run_follower(step, context, begin * s.out_w * job.y_pitch, done * s.out_w,
                                channels, job.y_pitch);
                 begin += done;
               }
             });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_ROW_RANGES_H_
