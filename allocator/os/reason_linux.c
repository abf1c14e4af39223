/* Errors of the system in words, without libc's strerror: that one may allocate. */
#include "os/file.h"

#include <errno.h>

/* The words lie in the table itself, for pointers would cost each process a relocation. */
static const struct {
    int error;
    char words[52];
} reasons[] = {
    {ENOENT, "there is no such folder"},
    {ENOTDIR, "there is no such folder"},
    {EACCES, "that is not permitted"},
    {EPERM, "that is not permitted"},
    {EROFS, "that is not permitted"},
    {EADDRINUSE, "something is there already"},
    {EEXIST, "something else is there with .part behind its name"},
    {EISDIR, "a folder is there already"},
    {ENOSPC, "the disk is full"},
    {EDQUOT, "the user's share of the disk is full"},
    {EFBIG, "the file would be longer than ulimit -f allows"},
    {ENAMETOOLONG, "the path is too long"},
    {EMFILE, "the process has too many files open"},
    {ENFILE, "the system has too many files open"},
};

const char *hak_os_reason(int error) {
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == error)
            return reasons[i].words;
    return "the system refuses it";
}
