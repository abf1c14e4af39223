#include "os/listener.h"

#include "os/calls.h"
#include "os/os.h"

#include <errno.h>
#include <sys/un.h>

enum {
    BACKLOG = 16,
    HIGH = 512, /* descriptors from here on: low numbers are the program's, who counts on them */
    OWN_MODE = 0600
};

static const hak_socket none = {.fd = -1};

static hak_socket listener = {.fd = -1};
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static hak_socket file; /* that of the path: its inode is another one than the socket's */
static pid_t owner;
static hak_socket stat_file = {.fd = -1}; /* of /proc; open all the time, for its high number */

/* ---- descriptors ---- */

static bool is_same(hak_socket s) {
    struct stat now;
    return s.fd >= 0 && hak_call_fstat(s.fd, &now) == 0 && now.st_dev == s.device &&
           now.st_ino == s.inode;
}

static hak_socket remember(int fd) {
    struct stat now;
    if (fd < 0 || hak_call_fstat(fd, &now) != 0)
        return none;
    return (hak_socket){fd, now.st_dev, now.st_ino};
}

/* The same with a high number, if the limit of descriptors has one. */
static int raise_number(int fd) {
    int high = fd >= 0 ? (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high >= 0)
        hak_call_close(fd);
    return high >= 0 ? high : fd;
}

static int make_socket(void) {
    return raise_number(hak_call_socket());
}

void hak_socket_close(hak_socket s) {
    if (!is_same(s))
        return;
    syscall(SYS_shutdown, s.fd, SHUT_RDWR); /* a child of this moment may have it, too */
    hak_call_close(s.fd);
}

/* ---- the path ---- */

/* Digits of the process's number in front of what stands there. */
static char *put_number(char *to, const char *end) {
    char digits[12];
    size_t count = 0;
    for (pid_t left = getpid(); left != 0; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count != 0 && to < end)
        *to++ = digits[--count];
    return to;
}

/* False: it is too long. */
static bool name_it(const char *path) {
    char *to = address.sun_path, *end = to + sizeof address.sun_path - 1;
    while (*path != '\0' && to < end) {
        bool is_number = path[0] == '%' && path[1] == 'p';
        if (is_number)
            to = put_number(to, end);
        else
            *to++ = *path;
        path += is_number ? 2 : 1;
    }
    *to = '\0';
    return *path == '\0' && to < end;
}

static long at_address(long call, int fd) {
    return syscall(call, fd, &address, sizeof address);
}

/* A socket of this user that refuses: its process has ended. */
static bool is_stale(void) {
    struct stat found;
    if (hak_call_lstat(address.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode) ||
        found.st_uid != (uid_t)syscall(SYS_geteuid))
        return false;
    int fd = make_socket();
    bool refused = fd >= 0 && at_address(SYS_connect, fd) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        hak_call_close(fd);
    return refused;
}

/* The mode of a socket before bind is that of its file, so there is no moment in which others may
 * use it. */
static bool bind_it(int fd) {
    if (syscall(SYS_fchmod, fd, OWN_MODE) != 0)
        return false;
    if (at_address(SYS_bind, fd) == 0)
        return true;
    bool stale = errno == EADDRINUSE && is_stale() && hak_call_unlink(address.sun_path) == 0;
    return stale && at_address(SYS_bind, fd) == 0;
}

static bool listen_at(int fd) {
    struct stat made;
    if (fd < 0 || !bind_it(fd) || syscall(SYS_listen, fd, BACKLOG) != 0 ||
        hak_call_lstat(address.sun_path, &made) != 0)
        return false;
    file = (hak_socket){-1, made.st_dev, made.st_ino};
    return true;
}

static const char *in_words(int error) {
    if (error == EADDRINUSE)
        return "something is there already";
    if (error == ENOENT || error == ENOTDIR)
        return "there is no such folder";
    return error == EACCES || error == EROFS ? "that is not permitted" : "the system refuses it";
}

static const char *open_at(const char *path) {
    if (*path != '/')
        return "the path must begin with /";
    if (!name_it(path))
        return "the path is longer than 107 bytes";
    int fd = make_socket();
    if (!listen_at(fd)) {
        const char *why = in_words(errno);
        if (fd >= 0)
            hak_call_close(fd);
        return why;
    }
    listener = remember(fd);
    owner = getpid();
    return NULL;
}

const char *hak_listener_open(const char *path) {
    int saved_errno = errno;
    const char *why = open_at(path);
    errno = saved_errno;
    return why;
}

bool hak_listener_is_open(void) {
    return owner == getpid() && is_same(listener);
}

void hak_listener_close(void) {
    int saved_errno = errno;
    struct stat now;
    if (owner != 0 && owner == getpid() && hak_call_lstat(address.sun_path, &now) == 0 &&
        now.st_dev == file.device && now.st_ino == file.inode)
        hak_call_unlink(address.sun_path);
    errno = saved_errno;
}

void hak_listener_drop(void) {
    if (is_same(listener))
        hak_call_close(listener.fd);
    if (is_same(stat_file))
        hak_call_close(stat_file.fd);
    listener = stat_file = none;
    owner = 0;
}

/* ---- clients ---- */

hak_socket hak_listener_wait(unsigned ms) {
    struct pollfd wanted = {.fd = listener.fd, .events = POLLIN};
    if (hak_call_poll(&wanted, ms) <= 0 || !is_same(listener))
        return none;
    return remember(raise_number(hak_call_accept(listener.fd)));
}

/* Until something can be done. False: the time is over. */
static bool wait_for(hak_socket s, short what, uint64_t ends_us) {
    uint64_t now = hak_os_now_us();
    struct pollfd wanted = {.fd = s.fd, .events = what};
    return now < ends_us && hak_call_poll(&wanted, (unsigned)((ends_us - now) / 1000 + 1)) > 0 &&
           is_same(s);
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
        ssize_t got = hak_call_receive(from.fd, text + length, size - 1 - length);
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
        ssize_t sent = hak_call_send(to.fd, text, length);
        if (sent < 0 && errno != EAGAIN)
            return false;
        text += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return length == 0;
}

/* ---- the end of the program ---- */

/* The field behind `skip` blanks. */
static const char *field(const char *text, int skip) {
    while (skip > 0 && *text != '\0')
        skip -= *text++ == ' ';
    return text;
}

/* "number (name) state ...": what follows the name, which may have blanks and brackets. */
static const char *behind_name(const char *text) {
    const char *end = NULL;
    for (; *text != '\0'; text++)
        end = *text == ')' ? text : end;
    return end;
}

/* The number of threads is the 20th field; the main thread, which has ended, counts until the end.
 */
bool hak_listener_is_last_thread(void) {
    char text[512];
    ssize_t length =
        is_same(stat_file) ? hak_call_read_again(stat_file.fd, text, sizeof text - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    const char *rest = behind_name(text);
    if (rest == NULL)
        return true;
    const char *threads = field(rest, 18);
    return field(rest, 1)[0] == 'Z' && threads[0] <= '2' && threads[1] == ' ';
}

bool hak_listener_watch_threads(void) {
    int saved_errno = errno;
    stat_file = remember(raise_number(hak_call_open("/proc/self/stat")));
    errno = saved_errno;
    return !hak_listener_is_last_thread();
}
