#include "os/socket.h"

#include "os/calls.h"
#include "os/os.h"

#include <errno.h>

enum {
    HIGH = 512, /* our descriptors are not below: programs count on low numbers */
};

const hak_socket hak_no_socket = {.fd = -1};

bool hak_socket_is_same(hak_socket s) {
    hak_socket now = hak_socket_of(s.fd);
    return now.fd >= 0 && now.device == s.device && now.inode == s.inode;
}

hak_socket hak_socket_of(int fd) {
    struct stat now;
    if (fd < 0 || hak_call_fstat(fd, &now) != 0)
        return hak_no_socket;
    return (hak_socket){fd, now.st_dev, now.st_ino};
}

int hak_socket_raise(int fd) {
    int high = fd >= 0 ? (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high >= 0)
        hak_call_close(fd);
    return high >= 0 ? high : fd;
}

void hak_socket_close(hak_socket s) {
    if (!hak_socket_is_same(s))
        return;
    syscall(SYS_shutdown, s.fd, SHUT_RDWR); /* a child forked just now may have it, too */
    hak_call_close(s.fd);
}

void hak_socket_drop(hak_socket s) {
    if (hak_socket_is_same(s))
        hak_call_close(s.fd);
}

/* Until something can be done. False: the time is over. */
static bool wait_for(hak_socket s, short what, uint64_t ends_us) {
    uint64_t now = hak_os_now_us();
    struct pollfd wanted = {.fd = s.fd, .events = what};
    return now < ends_us && hak_call_poll(&wanted, (unsigned)((ends_us - now) / 1000 + 1)) > 0 &&
           hak_socket_is_same(s);
}

static bool has_empty_line(const char *text) {
    bool empty = false; /* the line, so far */
    for (; *text != '\0'; text++) {
        if (*text == '\n' && empty)
            return true;
        empty = *text == '\n' || (empty && *text == '\r');
    }
    return false;
}

bool hak_socket_read(hak_socket from, char *text, size_t size, uint64_t ends_us) {
    size_t length = 0;
    while (length < size - 1 && wait_for(from, POLLIN, ends_us)) {
        ssize_t got = syscall(SYS_recvfrom, from.fd, text + length, size - 1 - length, MSG_DONTWAIT,
                              NULL, NULL);
        if (got <= 0)
            return false;
        length += (size_t)got;
        text[length] = '\0';
        if (has_empty_line(text))
            return true;
    }
    return false;
}

bool hak_socket_write(hak_socket to, const char *text, size_t length, uint64_t ends_us) {
    while (length != 0 && wait_for(to, POLLOUT, ends_us)) {
        const int how = MSG_NOSIGNAL | MSG_DONTWAIT; /* a peer that is gone raises no signal */
        ssize_t sent = syscall(SYS_sendto, to.fd, text, length, how, NULL, 0);
        if (sent < 0 && errno != EAGAIN)
            return false;
        text += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return length == 0;
}
