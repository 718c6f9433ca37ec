// SPDX-License-Identifier: Apache-2.0
// Team: every index of every job once, however many of its members come and whenever.
#include "runtime/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace qrt::team_test {
namespace {

void run(Team& team, size_t count, std::function<void(size_t)> task) {
  team.run([](void* f, size_t i) { (*static_cast<std::function<void(size_t)>*>(f))(i); }, &task,
           count);
}

// Jobs of all sizes, each index once. Results of one job are read by the next.
void run_jobs(Team& team, size_t jobs_before = 0) {
  ASSERT_TRUE(team.leads());
  std::vector<int> seen(100);  // not atomic: that jobs follow each other is the promise
  size_t jobs = jobs_before;
  for (int round = 0; round < 50; ++round) {
    for (size_t count : {0, 1, 2, 3, 5, 64, 100}) {
      run(team, count, [&](size_t i) { ++seen[i]; });
      for (size_t i = 0; i < count; ++i) --seen[i];
      ++jobs;
    }
  }
  for (int value : seen) ASSERT_EQ(value, 0);
  ASSERT_EQ(team.jobs(), jobs);
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

// A team sends away surplus threads: a pool may send more than it was asked for, and the leader's
// place is not theirs.
TEST(Team, SendsAwayWhoIsTooMany) {
  Team team(2);
  team.open();
  std::atomic<int> returned{0};
  std::vector<std::thread> threads;
  team.enter([&] {
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        team.enter([] { FAIL() << "two leaders"; });
        ++returned;
      });
    for (int ms = 0; ms < 10000 && returned < 2; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(returned, 2);  // one helps
    run_jobs(team);
  });
  for (std::thread& thread : threads) thread.join();
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

// Helpers serve many leads, which follow each other, with fewer members, and after pauses in which they sleep.
TEST(Team, ItsHelpersServeManyLeads) {
  Team team(4);
  team.open();
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < 4; ++i) helpers.emplace_back([&team, i] { team.serve(i); });
  for (int repeat = 0; repeat < 10; ++repeat) {
    if (repeat % 3 == 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const size_t members = 1 + static_cast<size_t>(repeat) % 4;
    const size_t before = team.jobs();
    team.lead(members, [&] { run_jobs(team, before); });
    ASSERT_FALSE(team.leads());
  }
  team.close();
  for (std::thread& helper : helpers) helper.join();
}

// Sleeping helpers are woken by a job: this ends only if another thread takes a task of it.
TEST(Team, ItsHelpersAreWoken) {
  Team team(2);
  team.open();
  std::thread helper([&team] { team.serve(1); });
  const std::thread::id leader = std::this_thread::get_id();
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> was_helped{false};
    team.lead(2, [&] {
      run(team, 2, [&](size_t) {
        if (std::this_thread::get_id() != leader) was_helped = true;
        while (!was_helped) std::this_thread::yield();
      });
    });
  }
  team.close();
  helper.join();
}

TEST(Team, OnlyTheMembersOfALeadHaveItsTasks) {
  Team team(3);
  team.open();
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < 3; ++i) helpers.emplace_back([&team, i] { team.serve(i); });
  const std::thread::id leader = std::this_thread::get_id();
  int others = 0;
  team.lead(1, [&] {
    for (int i = 0; i < 1000; ++i)
      run(team, 10, [&](size_t) { others += std::this_thread::get_id() != leader; });
  });
  ASSERT_EQ(others, 0);
  team.close();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace
}  // namespace qrt::team_test
