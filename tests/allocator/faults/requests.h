/* Every kind of request, by one thread and by others, where each may be refused. */
#ifndef HAKMEM_TESTS_REQUESTS_H
#define HAKMEM_TESTS_REQUESTS_H

/* Makes them all, and fails the test unless a refusal is NULL and ENOMEM, leaves the block that
 * realloc was given, and everything that was given is good. What was given back is free again: no
 * refusal leaves a block behind. */
void requests_run(void);

/* Such of which hundreds are needed before the library comes to all its calls of the system. */
void requests_run_rare(void);

#endif
