/* Reservations, and mappings of blocks that lie outside of them. The latter count against what
 * the system can back, as those of libc's malloc do: by default it refuses more than memory and
 * swap. */
#include "os/os.h"

#include "base/bits.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Address space alone, which need not be backed. */
static void *reserve(size_t size, int how) {
    void *got = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
    return got != MAP_FAILED ? got : NULL;
}

/* After mlockall(MCL_FUTURE) it is locked page by page as it is touched, not filled at once. */
static bool make_usable(void *start, size_t size) {
    bool locked = madvise(start, hak_os_page_size(), MADV_DONTNEED) != 0 && errno == EINVAL;
    if (locked)
        mlock2(start, size, MLOCK_ONFAULT);
    return mprotect(start, size, PROT_READ | PROT_WRITE) == 0;
}

/* Cuts an aligned mapping out of a longer one. */
static void *cut(char *got, size_t all, size_t size, size_t align) {
    char *start = (char *)hak_round_up((uintptr_t)got, align);
    size_t in_front = (size_t)(start - got), behind = all - size - in_front;
    if (in_front != 0)
        munmap(got, in_front);
    if (behind != 0)
        munmap(start + size, behind);
    return start;
}

/* A debugger that writes a core file would read every page. */
void *hak_os_reserve(size_t size, size_t align) {
    int saved_errno = errno;
    char *got = size + align >= size ? reserve(size + align, MAP_NORESERVE) : NULL;
    void *start = got != NULL ? cut(got, size + align, size, align) : NULL;
    if (start != NULL)
        madvise(start, size, MADV_DONTDUMP);
    errno = saved_errno;
    return start;
}

static void *map(size_t size, size_t align) {
    size_t page = hak_os_page_size(), all = align > page ? size + align - page : size;
    char *got = reserve(all, 0);
    if (got == NULL)
        return NULL;
    void *start = cut(got, all, size, align > page ? align : page);
    if (make_usable(start, size))
        return start;
    munmap(start, size);
    return NULL;
}

void *hak_os_map(size_t size, size_t align) {
    return HAK_KEEP_ERRNO(map(size, align));
}

/* A system that cannot split one more mapping takes the memory back at least. */
void hak_os_unmap(void *start, size_t size) {
    (void)HAK_KEEP_ERRNO(munmap(start, size) == 0 || madvise(start, size, MADV_DONTNEED) == 0);
}

static bool machine_has(size_t size) {
    struct sysinfo machine;
    return hak_os_may_ask() && syscall(SYS_sysinfo, &machine) == 0 &&
           size / machine.mem_unit <= machine.totalram + machine.totalswap;
}

/* Where a mapping grows, the system counts what is added alone, or nothing. So a second mapping is
 * tried, of the whole size. A limit may refuse that one although it allows the growth: then the
 * machine's memory is asked. */
static bool could_be_backed(size_t size) {
    void *all = map(size, 1);
    if (all != NULL)
        munmap(all, size);
    return all != NULL || machine_has(size);
}

void *hak_os_remap(void *start, size_t size, size_t new_size) {
    int saved_errno = errno;
    void *moved = MAP_FAILED;
    if (new_size <= size || could_be_backed(new_size))
        moved = mremap(start, size, new_size, MREMAP_MAYMOVE);
    errno = saved_errno;
    return moved != MAP_FAILED ? moved : NULL;
}

static void *move_out(void *from, size_t size, size_t new_size) {
    if (!could_be_backed(new_size))
        return NULL;
    int flags = MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
    void *out = mremap(from, size, size, flags, NULL); /* the system reads the last one, too */
    if (out == MAP_FAILED)
        return NULL;
    void *grown = mremap(out, size, new_size, MREMAP_MAYMOVE);
    if (grown != MAP_FAILED)
        return grown;
    memcpy(from, out, size);
    munmap(out, size);
    return NULL;
}

void *hak_os_move_out(void *from, size_t size, size_t new_size) {
    return HAK_KEEP_ERRNO(move_out(from, size, new_size));
}
