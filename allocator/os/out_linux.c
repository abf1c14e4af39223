#include "os/out.h"

#include "base/text.h"
#include "base/write.h"
#include "os/calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void fail(hak_out *out) {
    if (out->error == 0)
        out->error = errno != 0 ? errno : EIO;
}

static bool name_it(hak_out *out, const char *path) {
    static const char ending[] = ".part";
    size_t length = strlen(path);
    if (length + sizeof ending > sizeof out->part)
        return false;
    memcpy(out->path, path, length + 1);
    memcpy(out->part, path, length);
    memcpy(out->part + length, ending, sizeof ending);
    return true;
}

bool hak_out_open(hak_out *out, const char *path) {
    out->error = 0;
    out->used = 0;
    out->file = -1;
    if (!name_it(out, path)) {
        out->error = ENAMETOOLONG;
        return false;
    }
    int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    out->file = (int)syscall(SYS_openat, AT_FDCWD, out->part, how, HAK_OWN_MODE);
    if (out->file < 0)
        fail(out);
    return out->file >= 0;
}

static void flush(hak_out *out) {
    for (size_t done = 0; done < out->used && out->error == 0;) {
        ssize_t more = hak_write(out->file, out->buffer + done, out->used - done);
        if (more > 0)
            done += (size_t)more;
        else if (errno != EINTR)
            fail(out);
    }
    out->used = 0;
}

static void put(hak_out *out, const char *text, size_t length) {
    for (size_t done = 0; done < length;) {
        size_t room = sizeof out->buffer - out->used;
        size_t more = length - done < room ? length - done : room;
        memcpy(out->buffer + out->used, text + done, more);
        out->used += more;
        done += more;
        if (out->used == sizeof out->buffer)
            flush(out);
    }
}

void hak_out_text(hak_out *out, const char *text) {
    put(out, text, strlen(text));
}

void hak_out_number(hak_out *out, uint64_t value) {
    char digits[21];
    hak_out_text(out, hak_decimal(value, digits));
}

void hak_out_address(hak_out *out, const void *address) {
    char digits[19];
    hak_out_text(out, hak_hexadecimal((uintptr_t)address, digits));
}

void hak_out_copy(hak_out *out, const char *path) {
    char piece[1024];
    int from = hak_call_open(path);
    ssize_t length = from < 0 ? -1 : 0;
    while (from >= 0 && ((length = hak_call_read(from, piece, sizeof piece)) > 0 || errno == EINTR))
        if (length > 0)
            put(out, piece, (size_t)length);
        else if (length == 0)
            break;
    if (length < 0)
        fail(out);
    hak_call_drop(from);
}

int hak_out_close(hak_out *out) {
    if (out->file < 0)
        return out->error;
    flush(out);
    if (hak_call_close(out->file) != 0 || (out->error == 0 && rename(out->part, out->path) != 0))
        fail(out);
    if (out->error != 0)
        hak_call_unlink(out->part);
    return out->error;
}
