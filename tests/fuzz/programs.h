/* Running a program. */
#ifndef HAKMEM_FUZZ_PROGRAMS_H
#define HAKMEM_FUZZ_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

/* false: one call at a time, in the program's order, on a clock of its own: a failure comes again.
 * true: all threads at once, each its own calls. */
extern bool programs_run_freely;
/* Each call is printed first. */
extern bool programs_are_told;

/* Runs a program from its start to its end: all is checked and freed, all threads have ended, and
 * the allocator must have nothing left. */
void program_run(const uint8_t *bytes, size_t size);

/* ---- between its parts ---- */

/* One call by the thread that it belongs to; not DO_end and DO_end_late. */
void perform(const call *c);
/* What the last destructor of a thread does that ended with this call. */
void perform_late(const call *c);
/* Frees everything, and says what the allocator must say then. */
void finish(void);

/* Runs calls in their threads; those that are still there end. */
void threads_run_calls(const call *calls, size_t count);
void threads_end(void);

/* The system as the program sees it. */
void system_begin(void);
void system_wait(unsigned milliseconds);
/* After `skip` calls that are granted, `count` are refused. */
void system_refuse(unsigned skip, unsigned count);
unsigned system_refusals(void);

#endif
