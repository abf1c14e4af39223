/* System calls that few processes make, by their numbers: each of libc's functions that a library
 * names costs every process that loads it a look-up. And in some of libc's a thread may be
 * cancelled, but not in malloc, where it may hold a lock of ours. As libc's: -1 and errno. */
#pragma once

#include "base/attributes.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

HAK_INLINE int hak_call_open(const char *path) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}
/* What only this user may read and write. */
enum { HAK_OWN_MODE = 0600 };
HAK_INLINE ssize_t hak_call_read(int fd, void *to, size_t size) {
    return syscall(SYS_read, fd, to, size);
}
HAK_INLINE int hak_call_close(int fd) {
    return (int)syscall(SYS_close, fd);
}
/* The same for one that may be none. */
HAK_INLINE void hak_call_drop(int fd) {
    if (fd >= 0)
        hak_call_close(fd);
}
HAK_INLINE int hak_call_unlink(const char *path) {
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
/* The kernel's structure is libc's on 64-bit machines. */
HAK_INLINE int hak_call_fstat(int fd, struct stat *found) {
    return (int)syscall(SYS_newfstatat, fd, "", found, AT_EMPTY_PATH);
}
HAK_INLINE int hak_call_lstat(const char *path, struct stat *found) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
/* libfaketime has its own getpid, which looks for libc's, and allocates. */
HAK_INLINE pid_t hak_call_process(void) {
    return (pid_t)syscall(SYS_getpid);
}
HAK_INLINE pid_t hak_call_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}
HAK_INLINE int hak_call_poll(struct pollfd *wanted, unsigned ms) {
    struct timespec most = {ms / 1000, (long)(ms % 1000) * 1000000};
    return (int)syscall(SYS_ppoll, wanted, 1, &most, NULL, (size_t)8);
}
