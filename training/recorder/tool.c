/* trace-tool: what `pipeline trace` needs of the format.
 *
 *   trace-tool list FILE                          the processes, as JSON
 *   trace-tool rows FILE PROCESS OUT              events as rows of 32 bytes; about them, as JSON
 *   trace-tool cut FILE PROCESS FIRST LAST OUT    events FIRST to LAST
 *   trace-tool merge OUT FILE...                  all processes as one, side by side in time
 *   trace-tool anonymise FILE OUT                 without command, sites, times and process numbers
 *
 * Exit code: 0 done, 1 failed, 2 wrong use, 3 not a trace. */
#include "tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { OWNER_ALONE = 0600 };

int tool_fail(const char *path, const char *what, int code) {
    fprintf(stderr, "%s: %s\n", path, what);
    return code;
}

bool tool_open(const char *path, trace_file *file) {
    char error[TRACE_TEXT];
    if (trace_open(path, file, error))
        return true;
    tool_fail(path, error, TOOL_NOT_A_TRACE);
    return false;
}

trace_part *tool_part(trace_file *file, const char *number) {
    char *end;
    unsigned long index = strtoul(number, &end, 10);
    if (*number != '\0' && *end == '\0' && index < file->part_count)
        return &file->parts[index];
    tool_fail(number, "there is no such process in the trace", TOOL_USAGE);
    return NULL;
}

FILE *tool_create(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, OWNER_ALONE);
    FILE *out = file < 0 ? NULL : fdopen(file, "wb");
    if (out == NULL && file >= 0)
        close(file);
    return out;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int least, most; /* arguments */
        int (*run)(char **arguments);
    } commands[] = {{"list", 1, 1, tool_list},
                    {"rows", 3, 3, tool_rows},
                    {"cut", 5, 5, tool_cut},
                    {"merge", 2, 1 << 16, tool_merge},
                    {"anonymise", 2, 2, tool_anonymise}};
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0 && argc - 2 >= commands[i].least &&
            argc - 2 <= commands[i].most)
            return commands[i].run(argv + 2);
    return tool_fail("trace-tool", "wrong use; the commands are in training/recorder/tool.c",
                     TOOL_USAGE);
}
