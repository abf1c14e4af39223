#include "os/file.h"

#include "base/fatal.h"
#include "os/calls.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>

/* Without waiting for a pipe's writer, and without making a terminal ours. */
static int open_file(const char *path) {
    int how = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    return (int)syscall(SYS_openat, AT_FDCWD, path, how, 0);
}

/* 0: the end. */
static ssize_t read_some(int file, char *to, size_t size) {
    ssize_t got;
    do
        got = hak_call_read(file, to, size);
    while (got < 0 && errno == EINTR);
    return got;
}

static long read_all(int file, char *text, size_t size) {
    size_t length = 0;
    ssize_t got;
    while ((got = read_some(file, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    return got < 0 ? -1 : (long)length;
}

long hak_os_read(const char *path, char *text, size_t size) {
    int saved_errno = errno, file = open_file(path);
    long length = file >= 0 ? read_all(file, text, size) : -1;
    hak_call_drop(file);
    errno = saved_errno;
    return length;
}

/* NULL: it may be believed. */
static const char *doubt(int file) {
    struct stat about;
    if (file < 0 || hak_call_fstat(file, &about) != 0)
        return "cannot be opened";
    if (!S_ISREG(about.st_mode))
        return "is no regular file";
    if (about.st_uid != 0 && about.st_uid != getauxval(AT_EUID))
        return "belongs to another user";
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "may be written to by others";
    return NULL;
}

long hak_os_read_trusted(const char *path, char *text, size_t size, const char **why) {
    int saved_errno = errno, file = open_file(path);
    *why = doubt(file);
    long length = *why == NULL ? read_all(file, text, size) : -1;
    if (*why == NULL && length < 0)
        *why = "cannot be read";
    if (*why == NULL && (size_t)length == size - 1)
        *why = "is too long";
    if (*why == NULL && strlen(text) != (size_t)length)
        *why = "has a zero byte, so it is no text";
    hak_call_drop(file);
    errno = saved_errno;
    return *why == NULL ? length : -1;
}

enum { LINE = 1024 };

static bool split(int file, void (*each)(const char *line, void *context), void *context) {
    char piece[LINE], line[LINE];
    size_t length = 0;
    ssize_t got;
    while ((got = read_some(file, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            bool ends = piece[i] == '\n';
            line[length] = ends ? '\0' : piece[i];
            length = ends ? 0 : hak_least(length + 1, LINE - 1);
            if (ends)
                each(line, context);
        }
    return got == 0;
}

bool hak_os_each_line(const char *path, void (*each)(const char *line, void *context),
                      void *context) {
    int saved_errno = errno, file = open_file(path);
    bool done = file >= 0 && split(file, each, context);
    hak_call_drop(file);
    errno = saved_errno;
    return done;
}

bool hak_os_add_file(hak_text *text, const char *path) {
    char piece[LINE];
    int saved_errno = errno, file = open_file(path);
    ssize_t got = -1;
    while (file >= 0 && (got = read_some(file, piece, sizeof piece)) > 0)
        hak_text_add(text, "%.*s", (int)got, piece);
    hak_call_drop(file);
    if (got == 0)
        errno = saved_errno;
    return got == 0;
}

/* "size resident shared ...", in pages. */
size_t hak_os_process_resident(void) {
    char text[128];
    size_t pages;
    bool known = hak_os_may_ask() &&
                 hak_os_read("/proc/thread-self/statm", text, sizeof text) >= 0 &&
                 hak_read_decimal(hak_field(text, 1), &pages) != NULL;
    return known ? pages * hak_os_page_size() : 0;
}

/* ---- written in one go ---- */

void hak_out_fail(hak_out *out) {
    if (out->error == 0)
        out->error = errno != 0 ? errno : EIO;
}

static void flush(hak_text *text) {
    hak_out *out = (hak_out *)text;
    for (size_t done = 0; done < text->length && out->error == 0;) {
        ssize_t more = hak_write(out->file, out->buffer + done, text->length - done);
        if (more > 0)
            done += (size_t)more;
        else if (errno != EINTR)
            hak_out_fail(out);
    }
    text->length = 0;
}

static bool lock_it(int file) {
    return syscall(SYS_flock, file, LOCK_EX | LOCK_NB) == 0;
}

/* Locked, as long as somebody writes it. */
static int make_part(const char *path) {
    int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, how, HAK_OWN_MODE);
    if (file >= 0)
        lock_it(file);
    return file;
}

/* A file that one of our processes made, and that it did not live to complete. */
static bool is_unfinished(const char *path) {
    struct stat found;
    int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, how, 0);
    bool is_left = file >= 0 && hak_call_fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                   (found.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == HAK_OWN_MODE &&
                   found.st_uid == (uid_t)syscall(SYS_geteuid) && lock_it(file);
    hak_call_drop(file);
    return is_left;
}

int hak_out_try(const char *path) {
    char folder[PATH_MAX];
    int saved_errno = errno, length = (int)(strrchr(path, '/') - path) + 1;
    if (hak_print(folder, sizeof folder, "%.*s", length, path) >= sizeof folder)
        return ENAMETOOLONG;
    int error = syscall(SYS_faccessat, AT_FDCWD, folder, W_OK | X_OK) != 0 ? errno : 0;
    errno = saved_errno;
    return error;
}

bool hak_out_open(hak_out *out, const char *path) {
    out->error = 0;
    out->file = -1;
    out->path = path;
    out->text = (hak_text){out->buffer, sizeof out->buffer, 0, flush};
    if (hak_print(out->part, sizeof out->part, "%s.part", path) >= sizeof out->part) {
        out->error = ENAMETOOLONG;
        return false;
    }
    out->file = make_part(out->part);
    if (out->file < 0 && errno == EEXIST && HAK_KEEP_ERRNO(is_unfinished(out->part)) &&
        hak_call_unlink(out->part) == 0)
        out->file = make_part(out->part);
    if (out->file < 0)
        hak_out_fail(out);
    return out->file >= 0;
}

int hak_out_close(hak_out *out) {
    if (out->file < 0)
        return out->error;
    flush(&out->text);
    if (hak_call_close(out->file) != 0 || (out->error == 0 && rename(out->part, out->path) != 0))
        hak_out_fail(out);
    if (out->error != 0)
        hak_call_unlink(out->part);
    return out->error;
}
