#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"
#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

struct Pool {
  explicit Pool(int threads) : pool(lintel_pool_create(threads, &error)) {}
  ~Pool() { lintel_pool_destroy(pool); }
  Pool(const Pool &) = delete;
  const lintel_executor *executor() const { return lintel_pool_executor(pool); }
  lintel_error error;
  lintel_pool *pool;
};

TEST(Threads, ResultsDoNotDependOnTheirNumber) {
  Problem one(3, 9, 10, 5);
  ASSERT_EQ(one.run(), LINTEL_OK);
  for (int threads : {1, 2, 7, 31}) {
    Pool pool(threads);
    ASSERT_NE(pool.pool, nullptr) << pool.error.message;
    EXPECT_EQ(pool.executor()->threads, threads);
    for (int again = 0; again < 5; ++again) {
      Problem p(3, 9, 10, 5);
      p.call.executor = pool.executor();
      ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
      EXPECT_EQ(p.o, one.o);
      EXPECT_EQ(p.s1, one.s1);
    }
  }
}

TEST(Threads, ManyItemsAndPackedSequences) {
  Pool pool(4);
  Problem p(1, 1, 70000);
  p.call.executor = pool.executor();
  ASSERT_EQ(p.run(), LINTEL_OK);
  EXPECT_EQ(p.wrong(), 0);
  std::vector<int64_t> lengths;
  int64_t T = 0;
  for (int i = 0; i < 3000; ++i) T += (lengths.emplace_back(i % 4), lengths.back());
  Problem packed(1, T, 2, 1, int64_t(lengths.size()));
  packed.call.executor = pool.executor();
  packed.call.lengths = lengths.data();
  packed.call.num_lengths = int64_t(lengths.size());
  ASSERT_EQ(packed.run(), LINTEL_OK);
  int64_t first = 0, bad = 0;
  for (size_t s = 0; s < lengths.size(); first += lengths[s++])
    for (int64_t h = 0; h < 2; ++h) bad += packed.wrong(int64_t(s), 0, first, lengths[s], h, 0);
  EXPECT_EQ(bad, 0);
}

TEST(Threads, CallersShareOnePool) {
  Pool pool(3);
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&, i] {
      for (int again = 0; again < 50; ++again) {
        Problem p(2, 3, 4 + i);
        p.call.executor = pool.executor();
        bad += p.run() != LINTEL_OK || p.wrong() != 0;
      }
    });
  for (std::thread &t : callers) t.join();
  EXPECT_EQ(bad, 0);
}

TEST(Threads, CallersWithoutAPoolShareNothing) {
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&, i] {
      for (int again = 0; again < 50; ++again) {
        Problem p(2, 3, 4 + i);
        bad += p.run() != LINTEL_OK || p.wrong() != 0;
      }
    });
  for (std::thread &t : callers) t.join();
  EXPECT_EQ(bad, 0);
}

TEST(Threads, NestedCallsRunWhereTheyAre) {
  Pool pool(3);
  struct Data {
    const lintel_executor *executor;
    std::atomic<int> bad;
  } data{pool.executor(), {0}};
  pool.executor()->run(
      pool.executor()->context, 20,
      [](void *context, int64_t begin, int64_t end, int) {
        Data &d = *static_cast<Data *>(context);
        for (int64_t i = begin; i < end; ++i) {
          Problem p(2, 3, 4);
          p.call.executor = d.executor;
          d.bad += p.run() != LINTEL_OK || p.wrong() != 0;
        }
      },
      &data);
  EXPECT_EQ(data.bad, 0);
}

TEST(Threads, RangesCoverTheCountOnce) {
  Pool pool(5);
  for (int64_t count : {0, 1, 2, 5, 79, 80, 81, 1000, 12345}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    struct Data {
      std::vector<std::atomic<int>> *seen;
      std::atomic<int> bad;
    } data{&seen, {0}};
    pool.executor()->run(
        pool.executor()->context, count,
        [](void *context, int64_t begin, int64_t end, int thread) {
          Data &d = *static_cast<Data *>(context);
          d.bad += thread < 0 || thread >= 5;
          for (int64_t i = begin; i < end; ++i) ++(*d.seen)[size_t(i)];
        },
        &data);
    EXPECT_EQ(data.bad, 0);
    for (auto &n : seen) ASSERT_EQ(n, 1);
  }
}

TEST(Threads, AForkedChildComputesAlone) {
  Pool pool(3);
  Problem p(2, 3, 8);
  p.call.executor = pool.executor();
  ASSERT_EQ(p.run(), LINTEL_OK);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(p.run() == LINTEL_OK && p.wrong() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Threads, PoolSizes) {
  lintel_error error;
  for (int threads : {0, -1, 1025, INT32_MAX}) {
    EXPECT_EQ(lintel_pool_create(threads, &error), nullptr);
    EXPECT_EQ(error.code, LINTEL_ERROR_ARGUMENT);
  }
  lintel_pool_destroy(nullptr);
  EXPECT_EQ(lintel_pool_executor(nullptr), nullptr);
}

// Executors of the caller, honest and not.

void backwards(void *context, int64_t count, lintel_task task, void *data) {
  const int threads = *static_cast<int *>(context);
  for (int64_t i = count; i-- > 0;) task(data, i, i + 1, int(i % threads));
}

TEST(Threads, TheCallersOwnExecutor) {
  int threads = 3;
  const lintel_executor executor = {&threads, threads, backwards};
  const int64_t lengths[] = {2, 0, 5, 1, 0, 3};
  Problem p(1, 11, 4, 2, 6);
  p.call.lengths = lengths;
  p.call.num_lengths = 6;
  p.call.executor = &executor;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  int64_t first = 0;
  for (int64_t s = 0; s < 6; first += lengths[s++])
    for (int64_t h = 0; h < 4; ++h) EXPECT_EQ(p.wrong(s, 0, first, lengths[s], h, 0), 0);
}

TEST(Threads, ExecutorsThatBreakTheirPromise) {
  using Run = void (*)(void *, int64_t, lintel_task, void *);
  const Run broken[] = {[](void *, int64_t, lintel_task, void *) {},
                        [](void *, int64_t count, lintel_task task, void *data) { task(data, 0, count - 1, 0); },
                        [](void *, int64_t count, lintel_task task, void *data) {
                          task(data, 0, count, 0);
                          task(data, 0, 1, 0);
                        },
                        [](void *, int64_t count, lintel_task task, void *data) { task(data, 0, count, 2); },
                        [](void *, int64_t count, lintel_task task, void *data) { task(data, 0, count, -1); },
                        [](void *, int64_t count, lintel_task task, void *data) { task(data, 0, count + 1, 0); },
                        [](void *, int64_t count, lintel_task task, void *data) { task(data, -1, count, 0); }};
  for (Run run : broken) {
    const lintel_executor executor = {nullptr, 2, run};
    Problem p(2, 3, 4);
    p.call.executor = &executor;
    EXPECT_EQ(p.run(), LINTEL_ERROR_EXECUTOR);
    EXPECT_NE(p.message().find("executor: expected 8 items"), std::string::npos) << p.message();
  }
}

} // namespace
