/* Which shared object really serves an allocator name in this process.
 *
 * The object file of served.c is linked into every test. Before main it checks that malloc, free,
 * calloc and realloc come from libhakmem.so, or from what TEST_MALLOC_FROM names, so that no test
 * can silently pass on another allocator.
 */
#ifndef HAKMEM_TESTS_SERVED_H
#define HAKMEM_TESTS_SERVED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Path of the object that defines `name` for this process; "nothing" when no object does. */
const char *served_by(const char *name);

/* The part of a path that the serving object must contain. */
const char *expected_server(void);

#ifdef __cplusplus
}
#endif
#endif
