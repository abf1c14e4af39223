/* The commands of trace-tool: each takes its arguments and returns the exit code. */
#ifndef TRACE_TOOL_H
#define TRACE_TOOL_H

#include "writer.h"

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_NOT_A_TRACE = 3 };

int tool_list(char **arguments);
int tool_rows(char **arguments);
int tool_cut(char **arguments);
int tool_merge(char **arguments);
int tool_anonymise(char **arguments);

/* Opens a trace and the process `number` in it; says on stderr what is wrong and returns false. */
bool tool_open(const char *path, trace_file *file);
trace_part *tool_part(trace_file *file, const char *number);
/* A trace to write, for its owner alone: it has command lines and addresses. NULL: errno says. */
FILE *tool_create(const char *path);
/* One line on stderr, `path: what`. */
int tool_fail(const char *path, const char *what, int code);

#endif
