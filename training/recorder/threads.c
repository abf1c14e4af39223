/* Everything but the usual event: blocks begin and end, threads end, processes fork and exit. */
#include "recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

recorder_process *recorder_now;
RECORDER_TLS recorder_local recorder_self;
static pthread_key_t at_thread_end;
static atomic_flag key_made = ATOMIC_FLAG_INIT;

enum {
    SMALLEST_BLOCK = 1024, /* less is not worth a header */
    SKIPPED_WHEN_FULL = 1000,
};

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t recorder_clock_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* ---- blocks ---- */

static void begin_block(recorder_process *process, recorder_thread *thread) {
    trace_block *block = (trace_block *)(void *)thread->chunk.free;
    block->thread = thread->number;
    block->stamp = atomic_load(&process->stamp) - 1; /* ends a batch: the next event begins one */
    block->address = thread->to.address;
    block->time_ns = recorder_clock_ns() - process->started_ns;
    __asm__ volatile("" : : : "memory");
    block->magic = TRACE_BLOCK_MAGIC;
    block->check = trace_block_check(block);
    thread->block = block;
    thread->to.at = (unsigned char *)(block + 1);
    thread->to.stamp = block->stamp;
    recorder_set_limit(thread, thread->chunk.base + RECORDER_CHUNK - TRACE_RECORD_MAX);
}

static void add_totals(recorder_process *process, recorder_thread *thread) {
    __atomic_fetch_add(&process->section->events, thread->events, __ATOMIC_RELAXED);
    __atomic_fetch_add(&process->section->left_out, thread->left_out, __ATOMIC_RELAXED);
    uint64_t calls = thread->events + thread->left_out;
    uint64_t spent_ns = thread->spent_ns + calls * process->event_cost_ps / 1000;
    __atomic_fetch_add(&process->section->recorder_ns, spent_ns, __ATOMIC_RELAXED);
    thread->events = thread->left_out = thread->spent_ns = 0;
}

static void seal_block(recorder_process *process, recorder_thread *thread) {
    trace_block *block = thread->block;
    if (block == NULL)
        return;
    uint64_t length = (uint64_t)(thread->to.at - (unsigned char *)(block + 1));
    block->sum = trace_sum(block + 1, length);
    block->events = thread->events;
    __asm__ volatile("" : : : "memory");
    block->length = length; /* from here on the sum counts */
    uint64_t taken = (sizeof *block + length + TRACE_BLOCK_ALIGN - 1) / TRACE_BLOCK_ALIGN;
    thread->chunk.free = (unsigned char *)block + taken * TRACE_BLOCK_ALIGN;
    thread->block = NULL;
    recorder_set_limit(thread, NULL);
    add_totals(process, thread);
}

static bool has_room(const recorder_chunk *chunk) {
    return chunk->base != NULL && chunk->free + SMALLEST_BLOCK <= chunk->base + RECORDER_CHUNK;
}

/* ---- threads ---- */

static recorder_thread *new_state(recorder_process *process) {
    recorder_thread *thread = NULL;
    recorder_lock(process);
    if (recorder_self.number == 0 && process->threads < TRACE_THREADS_MAX - 1)
        recorder_self.number = ++process->threads;
    if (process->idle_states > 0)
        thread = process->idle[--process->idle_states];
    else if (process->states < RECORDER_STATES)
        thread = &process->all[process->states++];
    if (thread != NULL && process->pooled > 0)
        thread->chunk = process->pool[--process->pooled];
    recorder_unlock(process);
    if (thread == NULL || recorder_self.number == 0)
        return NULL;
    thread->number = recorder_self.number - 1;
    thread->mark = (uint64_t)(thread - process->all + 1) << RECORDER_ADDRESS_BITS;
    if (!recorder_self.ended)
        pthread_setspecific(at_thread_end, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
    return thread;
}

void recorder_detach(void) {
    recorder_process *process = recorder_now;
    recorder_thread *thread = recorder_self.thread;
    recorder_self.thread = NULL;
    if (thread == NULL || process->section == NULL || process->states == 0)
        return;
    seal_block(process, thread);
    recorder_chunk rest = thread->chunk;
    memset(thread, 0, sizeof *thread);
    recorder_lock(process);
    process->idle[process->idle_states++] = thread;
    bool keep = has_room(&rest) && process->pooled < RECORDER_POOL;
    if (keep)
        process->pool[process->pooled++] = rest;
    recorder_unlock(process);
    if (!keep)
        recorder_drop_chunk(process, &rest);
}

/* Called again and again, so that destructors of others, which free, come first. */
static void thread_ends(void *rounds) {
    if ((uintptr_t)rounds > 1) {
        pthread_setspecific(at_thread_end, (void *)((uintptr_t)rounds - 1));
        return;
    }
    recorder_thread *thread = recorder_room();
    if (thread != NULL) {
        trace_encode_end(&thread->to, recorder_stamp(recorder_now, thread, thread->to.stamp, 0));
        thread->events++;
    }
    recorder_self.ended = true;
    recorder_detach();
}

/* ---- processes ---- */

static bool make_process(void) {
    long at = syscall(SYS_mmap, NULL, sizeof(recorder_process), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == -1)
        return false;
    if (syscall(SYS_madvise, at, sizeof(recorder_process), MADV_WIPEONFORK) != 0) {
        recorder_complain("cannot record", "MADV_WIPEONFORK needs Linux 4.14");
        recorder_off = true;
        return false;
    }
    recorder_process *none = NULL;
    if (!__atomic_compare_exchange_n(&recorder_now, &none, (recorder_process *)at, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        syscall(SYS_munmap, at, sizeof(recorder_process)); /* another thread was quicker */
    return true;
}

/* The thread that calls fork is the only one that goes on. */
static void child_begins(void) {
    recorder_self.thread = NULL;
    recorder_self.number = 0;
}

__attribute__((constructor(101))) static void process_begins(void) {
    pthread_atfork(NULL, NULL, child_begins);
}

/* True once this process has its file. */
static bool process_ready(void) {
    if (recorder_wishes.pattern == NULL && !recorder_read_options())
        return false;
    if (recorder_now == NULL && !make_process())
        return false;
    if (!atomic_flag_test_and_set(&key_made))
        pthread_key_create(&at_thread_end, thread_ends);
    recorder_process *process = recorder_now;
    recorder_lock(process);
    if (process->section == NULL && !process->refused)
        recorder_open_file(process);
    recorder_unlock(process);
    return process->section != NULL;
}

/* An empty chunk; after a failure (the disk is full) not every event tries again. */
static bool empty_chunk(recorder_process *process, recorder_thread *thread) {
    recorder_chunk *chunk = &thread->chunk;
    if (thread->skip == 0 && (chunk->base != NULL ? recorder_empty_chunk(process, chunk)
                                                  : recorder_take_chunk(process, chunk)))
        return true;
    thread->skip = thread->skip > 0 ? thread->skip - 1 : SKIPPED_WHEN_FULL;
    __atomic_fetch_add(&process->section->lost, 1, __ATOMIC_RELAXED);
    return false;
}

static recorder_thread *find_room(void) {
    if (!process_ready())
        return NULL;
    recorder_process *process = recorder_now;
    recorder_thread *thread = recorder_self.thread;
    if (thread == NULL || process->states == 0) /* no states: a forked child */
        thread = recorder_self.thread = new_state(process);
    if (thread == NULL)
        return NULL;
    seal_block(process, thread);
    if (!has_room(&thread->chunk) && !empty_chunk(process, thread))
        return NULL;
    begin_block(process, thread);
    return thread;
}

recorder_thread *recorder_more_room(void) {
    if (recorder_off || recorder_self.busy)
        return NULL;
    int kept = errno;
    recorder_self.busy = true;
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    recorder_thread *thread = find_room();
    if (thread != NULL)
        thread->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    recorder_self.busy = false;
    errno = kept;
    return thread;
}

/* Other threads may still run: their blocks stay open. Events that come later begin a new block. */
__attribute__((destructor(101))) static void process_exits(void) {
    recorder_process *process = recorder_now;
    if (process == NULL || process->section == NULL)
        return;
    if (recorder_self.thread != NULL)
        seal_block(process, recorder_self.thread);
    process->section->run_ns = recorder_clock_ns() - process->started_ns;
    process->section->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    process->section->last_stamp = atomic_load(&process->stamp);
    process->section->closed = 1;
}

/* The same for each run of the program: where in which file, not at which address. */
uint32_t recorder_site(const void *address) {
    struct dl_find_object found;
    uint64_t hash = 0;
    if (_dl_find_object((void *)(uintptr_t)address, &found) == 0 && found.dlfo_link_map != NULL) {
        const char *name = found.dlfo_link_map->l_name, *slash = strrchr(name, '/');
        hash = (uint64_t)((uintptr_t)address - (uintptr_t)found.dlfo_map_start);
        for (const char *c = slash ? slash + 1 : name; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    }
    hash *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(hash >> 40);
}
