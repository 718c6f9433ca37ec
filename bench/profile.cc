// SPDX-License-Identifier: Apache-2.0
// Measurements in sessions of their own: the operators, and batches.
#include <algorithm>
#include <string>

#include "bench/interrupt.h"
#include "bench/measure.h"
#include "bench/roofline.h"
#include "bench/sessions.h"

namespace qrt::bench {
namespace {

void warm_up(Session* session, double seconds) {
  const auto start = Clock::now();
  for (size_t n = 0; !interrupted() && (n < 2 || ms_since(start) < seconds * 1e3); ++n)
    run(session);
}

// Operators of a session that measured nothing yet.
std::vector<OpTime> list_ops(const Session& session) {
  std::vector<OpTime> ops;
  for (size_t i = 0; i < session.op_count(); ++i) {
    const qrt_op_info info = session.op_info(i);
    std::string kernel = info.kernel;
    if (info.runs_in != i) kernel += std::string(" in ") + session.op_info(info.runs_in).name;
    ops.push_back({info.name,
                   info.type,
                   info.source_op,
                   kernel,
                   info.level,
                   info.macs,
                   info.bytes,
                   info.constant_bytes,
                   0,
                   0,
                   0,
                   {}});
  }
  return ops;
}

// Returns whether another round is run: at least one, for there to be a number, and at least three
// unless interrupted.
bool goes_on(size_t rounds, Clock::time_point start, double seconds) {
  return rounds == 0 || (!interrupted() && (rounds < 3 || ms_since(start) < seconds * 1e3));
}

}  // namespace

Status profile(const Model& model, const Options& options, const Progress& progress,
               Measurement* m) {
  constexpr size_t kMostTraced = 20;
  Session session = make_session(model, options, options.batch, true);
  QRT_TRY(fill_inputs(model, options, &session));
  warm_up(&session, options.seconds * 0.1);
  m->ops = list_ops(session);
  if (options.roofline) m->peaks = loops_of(*m);
  std::vector<std::vector<double>> times(m->ops.size()), rates(m->peaks.size());
  const auto start = Clock::now();
  for (size_t n = 0; goes_on(n, start, options.seconds); ++n) {
    if (progress) progress("profile", ms_since(start) / (options.seconds * 1e3 + 1e-3));
    for (size_t i = 0; i < rates.size(); ++i) rates[i].push_back(sample_gmacs(*m->peaks[i].loop));
    session.profile_reset();
    TracedRun traced = {ms_since(start) * 1e3, {}};
    run(&session);
    for (size_t i = 0; i < times.size(); ++i) {
      times[i].push_back(static_cast<double>(session.op_info(i).total_ns) * 1e-6);
      traced.op_us.push_back(times[i].back() * 1e3);
    }
    if (options.traces && n < kMostTraced) m->traced.push_back(std::move(traced));
  }
  for (size_t i = 0; i < rates.size(); ++i) m->peaks[i].gmacs = median(rates[i]);
  for (size_t i = 0; i < times.size(); ++i) m->ops[i].ms = median(times[i]);
  const double total = m->ops_ms();
  for (OpTime& op : m->ops) {
    op.share = total > 0 ? op.ms / total : 0;
    op.gmacs = op.ms > 0 ? static_cast<double>(op.macs) / op.ms * 1e-6 : 0;
  }
  if (!options.roofline) return {};
  m->memory = measure_memory();
  set_limits(options.threads, m);
  return {};
}

void measure_scaling(const Model& model, const Options& options, Measurement* m) {
  std::vector<Session> sessions;
  std::vector<std::vector<double>> times, ratios;
  for (size_t batch = 1; batch <= options.scaling; batch *= 2) {
    sessions.push_back(make_session(model, options, batch, false));
    for (size_t i = 0; i < model.input_count(); ++i) fill_input(&sessions.back(), i);
    m->scaling.push_back({batch, 0, 0});
  }
  const size_t images = m->scaling.back().batch;
  times.resize(sessions.size());
  ratios.resize(sessions.size());
  const auto start = Clock::now();
  for (size_t n = 0; goes_on(n, start, options.seconds); ++n)
    for (size_t i = 0; i < sessions.size(); ++i) {
      run(&sessions[i]);  // what the others left in the caches
      const auto begin = Clock::now();
      for (size_t done = 0; done < images; done += m->scaling[i].batch) run(&sessions[i]);
      times[i].push_back(std::max(ms_since(begin), 1e-6) / static_cast<double>(images));
      ratios[i].push_back(times[i].back() / times[0].back());
    }
  for (size_t i = 0; i < sessions.size(); ++i) {
    m->scaling[i].image_ms = median(times[i]);
    m->scaling[i].of_first = median(ratios[i]);
  }
}

}  // namespace qrt::bench
