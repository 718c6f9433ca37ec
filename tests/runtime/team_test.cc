// Team: every index of every job once, however many of its members come and whenever.
#include "runtime/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace qrt {
namespace {

void run(Team& team, size_t count, std::function<void(size_t)> task) {
  team.run([](void* f, size_t i) { (*static_cast<std::function<void(size_t)>*>(f))(i); }, &task,
           count);
}

// Jobs of all sizes, each index once. Results of one job are read by the next.
void run_jobs(Team& team) {
  ASSERT_TRUE(team.leads());
  std::vector<int> seen(100);  // not atomic: that jobs follow each other is the promise
  int jobs = 0;
  for (int round = 0; round < 50; ++round) {
    for (size_t count : {0, 1, 2, 3, 5, 64, 100}) {
      run(team, count, [&](size_t i) { ++seen[i]; });
      for (size_t i = 0; i < count; ++i) --seen[i];
      ++jobs;
    }
  }
  for (int value : seen) ASSERT_EQ(value, 0);
  ASSERT_EQ(team.jobs(), static_cast<size_t>(jobs));
}

TEST(Team, RunsEachIndexOnceOnItsThreads) {
  for (size_t members : {1, 2, 3, 5}) {
    Team team(members);
    for (int repeat = 0; repeat < 10; ++repeat) {
      team.open();
      std::atomic<int> leaders{0};
      std::vector<std::thread> threads;
      for (size_t i = 0; i < members; ++i)
        threads.emplace_back([&] { team.enter([&] { ++leaders, run_jobs(team); }); });
      for (std::thread& thread : threads) thread.join();
      ASSERT_EQ(leaders, 1);
      ASSERT_FALSE(team.leads());
    }
  }
}

TEST(Team, NeedsNobodyButItsLeader) {
  Team team(4);
  for (int repeat = 0; repeat < 2; ++repeat) {
    team.open();
    team.enter([&] { run_jobs(team); });
  }
}

TEST(Team, SendsAwayWhoComesAfterTheEnd) {
  Team team(3);
  team.open();
  int leaders = 0;
  for (int i = 0; i < 3; ++i) team.enter([&] { ++leaders, run_jobs(team); });
  ASSERT_EQ(leaders, 1);
}

TEST(Team, TakesInWhoComesLate) {
  Team team(2);
  team.open();
  std::atomic<bool> was_helped{false};
  std::thread late;
  team.enter([&] {
    const std::thread::id leader = std::this_thread::get_id();
    run(team, 2, [](size_t) {});
    late = std::thread([&] { team.enter([] { FAIL() << "two leaders"; }); });
    while (!was_helped) {
      run(team, 2, [&](size_t) {
        if (std::this_thread::get_id() != leader) was_helped = true;
      });
    }
  });
  late.join();
}

}  // namespace
}  // namespace qrt
