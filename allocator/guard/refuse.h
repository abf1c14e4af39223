/* The sentences with which the guard ends a program. None of them returns. */
#pragma once

#include "guard/record.h"

/* No block in use begins at `block`. */
_Noreturn HAK_COLD void hak_refuse_place(const void *block, const char *function, hak_place place);

/* A block in use, but not one that fits what the caller says. */
_Noreturn HAK_COLD void hak_refuse_claim(const void *block, const hak_free_call *claim,
                                         hak_facts facts);

/* The byte at `at` was written to: beside a block in use, in a block that was freed. */
_Noreturn HAK_COLD void hak_refuse_overflow(const void *block, const char *function,
                                            hak_facts facts, const void *at);
_Noreturn HAK_COLD void hak_refuse_written(const void *block, const char *function, hak_facts facts,
                                           const void *at);

/* Names the fault at an address if the guard made it; returns otherwise. */
HAK_COLD void hak_explain_fault(const void *address);
