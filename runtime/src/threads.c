/* The thread pool. A job is a counter that the threads draw ranges from, the caller among them; the caller never waits
 * for a thread that has not started on the job yet, so that a pool whose threads sleep (or are gone, after a fork)
 * costs time and nothing else. */
#include "internal.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MaxThreads = 1024 };

typedef struct job {
  lintel_task task;
  void *data;
  int64_t count, grain;
  _Atomic int64_t next;
} job;

typedef struct worker {
  struct lintel_pool *pool;
  pthread_t handle;
  int number;
} worker;

struct lintel_pool {
  lintel_executor executor;
  pthread_mutex_t turn; /* held by the caller whose job it is */
  pthread_mutex_t lock; /* guards all below */
  pthread_cond_t wake, idle;
  job *job;       /* NULL: none is open */
  uint64_t epoch; /* number of jobs opened */
  int working;    /* threads inside the job */
  int stop;
  int started; /* of workers */
  worker *workers;
};

/* The pool whose task this thread is running, to let nested calls run where they are. */
static _Thread_local const lintel_pool *inside;

static void drain(job *work, int thread) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&work->next, work->grain, memory_order_relaxed);
    if (begin >= work->count) return;
    int64_t left = work->count - begin;
    work->task(work->data, begin, begin + (left < work->grain ? left : work->grain), thread);
  }
}

static void *workerMain(void *argument) {
  worker *self = argument;
  lintel_pool *pool = self->pool;
  uint64_t seen = 0;
  inside = pool;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (!pool->stop && (!pool->job || pool->epoch == seen)) pthread_cond_wait(&pool->wake, &pool->lock);
    if (pool->stop) break;
    seen = pool->epoch;
    job *work = pool->job;
    ++pool->working;
    pthread_mutex_unlock(&pool->lock);
    drain(work, self->number);
    pthread_mutex_lock(&pool->lock);
    if (--pool->working == 0) pthread_cond_signal(&pool->idle);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static void poolRun(void *context, int64_t count, lintel_task task, void *data) {
  lintel_pool *pool = context;
  if (count <= 0) return;
  if (count == 1 || pool->started == 0 || inside == pool) {
    /* A nested call shares no data with the task it is in, so that its thread numbers start anew. */
    task(data, 0, count, 0);
    return;
  }
  job work = {.task = task, .data = data, .count = count, .grain = 1};
  /* About 16 draws a thread: few enough to cost nothing, many enough to even out items of unequal length. The end of
   * the count must stay representable after every thread has drawn once too often. */
  if (count / pool->executor.threads > 16) work.grain = count / pool->executor.threads / 16;
  if (count > INT64_MAX - work.grain * (pool->executor.threads + 1)) {
    task(data, 0, count, 0);
    return;
  }
  pthread_mutex_lock(&pool->turn);
  pthread_mutex_lock(&pool->lock);
  pool->job = &work;
  ++pool->epoch;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);

  const lintel_pool *outside = inside;
  inside = pool;
  drain(&work, 0);
  inside = outside;

  pthread_mutex_lock(&pool->lock);
  pool->job = NULL;
  while (pool->working) pthread_cond_wait(&pool->idle, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  pthread_mutex_unlock(&pool->turn);
}

lintel_pool *lintel_pool_create(int threads, lintel_error *error) {
  if (threads < 1 || threads > MaxThreads) {
    lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "threads: expected 1 to %d, found %d", MaxThreads, threads);
    return NULL;
  }
  lintel_pool *pool = calloc(1, sizeof *pool);
  worker *workers = calloc((size_t)threads, sizeof *workers);
  if (!pool || !workers) {
    free(pool);
    free(workers);
    lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "no memory for a pool of %d thread%s", threads,
                         threads == 1 ? "" : "s");
    return NULL;
  }
  pool->executor.context = pool;
  pool->executor.threads = threads;
  pool->executor.run = poolRun;
  pool->workers = workers;
  pthread_mutex_init(&pool->turn, NULL);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->idle, NULL);
  for (int i = 0; i + 1 < threads; ++i) {
    workers[i].pool = pool;
    workers[i].number = i + 1;
    if (pthread_create(&workers[i].handle, NULL, workerMain, &workers[i]) != 0) {
      lintel_pool_destroy(pool);
      lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "the system refused thread %d of %d; ask for fewer", i + 2,
                           threads);
      return NULL;
    }
    pool->started = i + 1;
  }
  lintel_internal_ok(error);
  return pool;
}

void lintel_pool_destroy(lintel_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  pool->stop = 1;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].handle, NULL);
  pthread_cond_destroy(&pool->wake);
  pthread_cond_destroy(&pool->idle);
  pthread_mutex_destroy(&pool->turn);
  pthread_mutex_destroy(&pool->lock);
  free(pool->workers);
  free(pool);
}

const lintel_executor *lintel_pool_executor(const lintel_pool *pool) { return pool ? &pool->executor : NULL; }
