/* The file of a process: a header page and chunks, some of them mapped by one thread each.
 *
 * What lies in a shared mapping survives the process, however it ends. Room on disk is reserved
 * before it is mapped: a store beyond a full disk would be a SIGBUS in somebody's malloc. A thread
 * maps one chunk; when that is full, its content is copied to another place of the file by a
 * write, for a fifth of the time that a new mapping with its page faults takes. The file is opened
 * anew for each chunk, because programs close descriptors that they did not open. */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_TRIED = 10000 }; /* a process that calls exec again and again */

void recorder_lock(recorder_process *process) {
    while (atomic_flag_test_and_set_explicit(&process->lock, memory_order_acquire))
        syscall(SYS_sched_yield);
}

void recorder_unlock(recorder_process *process) {
    atomic_flag_clear_explicit(&process->lock, memory_order_release);
}

static int open_file(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static bool write_zeros(int file, uint64_t offset, uint64_t length) {
    static const char zeros[4096];
    for (uint64_t done = 0; done < length; done += sizeof zeros)
        if (syscall(SYS_pwrite64, file, zeros, sizeof zeros, offset + done) != sizeof zeros)
            return false;
    return true;
}

/* Beyond RLIMIT_FSIZE there is no error but a signal that ends the program. */
static bool within_limit(uint64_t end) {
    struct rlimit limit;
    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 || end <= limit.rlim_cur;
}

static bool reserve(int file, uint64_t offset, uint64_t length) {
    if (!within_limit(offset + length))
        return false;
    if (syscall(SYS_fallocate, file, 0, offset, length) == 0)
        return true;
    return (errno == EOPNOTSUPP || errno == ENOSYS) && write_zeros(file, offset, length);
}

/* Children of fork get no copy: they must not write into their parent's file. */
static void *map_reserved(int file, uint64_t offset, size_t length) {
    if (!reserve(file, offset, length))
        return NULL;
    long at = syscall(SYS_mmap, NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      file, offset);
    if (at == -1)
        return NULL;
    syscall(SYS_madvise, at, length, MADV_DONTFORK);
    return (void *)at;
}

static char *put_number(char *to, uint64_t value) {
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* The pattern with %p as the number of the process, and `.attempt` behind it from the second on. A
 * folder may have %p in its name. */
static bool name_file(char path[RECORDER_PATH], uint64_t attempt) {
    char *to = path, *end = path + RECORDER_PATH - 48;
    const char *slash = strrchr(recorder_wishes.pattern, '/');
    const char *name = slash ? slash : recorder_wishes.pattern;
    for (const char *c = recorder_wishes.pattern; *c != '\0'; c++) {
        if (to >= end)
            return false;
        if (c[0] == '%' && c[1] == 'p' && c >= name) {
            to = put_number(to, (uint64_t)syscall(SYS_getpid));
            c++;
        } else {
            *to++ = *c;
        }
    }
    if (attempt > 0) {
        *to++ = '.';
        to = put_number(to, attempt);
    }
    *to = '\0';
    return true;
}

static int create_file(char path[RECORDER_PATH]) {
    int file = -1;
    for (uint64_t attempt = 0; file < 0 && attempt < NAMES_TRIED; attempt++) {
        if (!name_file(path, attempt))
            return -1;
        file = open_file(path, O_CREAT | O_EXCL);
        if (file < 0 && errno != EEXIST)
            return -1;
    }
    return file;
}

static void read_command(char command[TRACE_COMMAND_BYTES]) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    syscall(SYS_read, file, command, TRACE_COMMAND_BYTES - 1);
    syscall(SYS_close, file);
}

static uint64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void describe(trace_section *section) {
    section->version = TRACE_VERSION;
    section->flags = (recorder_wishes.sites ? TRACE_SITES : 0u) |
                     (recorder_wishes.ring_chunks ? TRACE_RING : 0u) | TRACE_BATCHES;
    section->sample = recorder_wishes.sample;
    section->pid = (uint64_t)syscall(SYS_getpid);
    section->parent = (uint64_t)syscall(SYS_getppid);
    section->started_ns = wall_ns();
    read_command(section->command);
    memcpy(section->magic, TRACE_MAGIC, sizeof section->magic);
    section->check = trace_section_check(section);
}

/* Under the lock. */
bool recorder_open_file(recorder_process *process) {
    int file = create_file(process->path);
    trace_section *section = file < 0 ? NULL : map_reserved(file, 0, TRACE_SECTION_BYTES);
    if (section == NULL) {
        recorder_complain("cannot record into", process->path);
        process->refused = true;
    } else {
        describe(section);
        process->event_cost_ps = recorder_event_cost_ps();
        process->started_ns = recorder_clock_ns();
        process->section = section;
    }
    if (file >= 0)
        syscall(SYS_close, file);
    return section != NULL;
}

/* The position of a chunk that nobody holds; a ring turns past those that are held. */
static bool choose(recorder_process *process, uint64_t *number) {
    uint64_t ring = recorder_wishes.ring_chunks;
    *number = atomic_fetch_add(&process->chunks, 1);
    if (ring == 0)
        return true;
    for (uint64_t tries = 0; tries < ring; tries++) {
        *number %= ring;
        if (atomic_exchange(&process->used[*number], 1) == 0)
            return true;
        *number = atomic_fetch_add(&process->chunks, 1);
    }
    return false;
}

/* A ring may write over it. */
static void let_go(recorder_process *process, uint64_t number) {
    if (recorder_wishes.ring_chunks)
        process->used[number] = 0;
}

static uint64_t offset_of(uint64_t number) {
    return TRACE_SECTION_BYTES + number * RECORDER_CHUNK;
}

bool recorder_take_chunk(recorder_process *process, recorder_chunk *chunk) {
    if (!choose(process, &chunk->number))
        return false;
    int file = open_file(process->path, 0);
    if (file >= 0) {
        chunk->base = map_reserved(file, offset_of(chunk->number), RECORDER_CHUNK);
        syscall(SYS_close, file);
    }
    if (chunk->base == NULL) {
        let_go(process, chunk->number);
        return false;
    }
    if (recorder_wishes.ring_chunks)
        memset(chunk->base, 0, RECORDER_CHUNK);
    chunk->free = chunk->base;
    return true;
}

static bool write_chunk(recorder_process *process, const recorder_chunk *chunk, uint64_t number) {
    uint64_t offset = offset_of(number);
    int file = within_limit(offset + RECORDER_CHUNK) ? open_file(process->path, 0) : -1;
    if (file < 0)
        return false;
    long written = syscall(SYS_pwrite64, file, chunk->base, RECORDER_CHUNK, offset);
    syscall(SYS_close, file);
    return written == RECORDER_CHUNK;
}

/* The first header goes last: whoever is killed in between leaves a block that a reader finds
 * again, complete, in the copy. */
static void clear(recorder_chunk *chunk) {
    memset(chunk->base + sizeof(trace_block), 0, RECORDER_CHUNK - sizeof(trace_block));
    __asm__ volatile("" : : : "memory");
    memset(chunk->base, 0, sizeof(trace_block));
    chunk->free = chunk->base;
}

bool recorder_empty_chunk(recorder_process *process, recorder_chunk *chunk) {
    uint64_t number;
    if (!choose(process, &number))
        return false;
    bool written = write_chunk(process, chunk, number);
    let_go(process, number);
    if (written)
        clear(chunk);
    return written;
}

void recorder_drop_chunk(recorder_process *process, recorder_chunk *chunk) {
    if (chunk->base == NULL)
        return;
    syscall(SYS_munmap, chunk->base, RECORDER_CHUNK);
    let_go(process, chunk->number);
    *chunk = (recorder_chunk){0};
}
