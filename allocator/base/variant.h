/* The variants of the library: constants of the build (CMake: HAKMEM_VARIANT), never asked at run
 * time. Code that belongs to one of them stands in files of its own; where the others must
 * cooperate it is `if (HAK_GUARD)` or an empty inline twin, which leaves no instruction behind.
 *
 *   production   what is published
 *   hardened     production that ends at wrong frees at once: pages/mark.h
 *   guard        finds misuse: guard/
 *   research     counts, and can send every call to libc: research/ */
#pragma once

#ifndef HAK_GUARD
#define HAK_GUARD 0
#endif
#ifndef HAK_HARDENED
#define HAK_HARDENED 0
#endif
#ifndef HAK_RESEARCH
#define HAK_RESEARCH 0
#endif
/* 1 in builds for the judge's check of itself: stats/slowdown.h. */
#ifndef HAK_SLOWDOWN
#define HAK_SLOWDOWN 0
#endif

/* 1 in the files that a variant wraps: their functions are called hak_core_malloc and so on, stay
 * inside the library and have no libc names. */
#ifndef HAK_WRAPPED
#define HAK_WRAPPED 0
#endif

/* Its options, and what it is called where a library tells about itself. */
#if HAK_GUARD
#define HAK_VARIANT_OPTIONS "policy/options_guard.def"
#define HAK_VARIANT_NAME "guard"
#elif HAK_RESEARCH
#define HAK_VARIANT_OPTIONS "policy/options_research.def"
#define HAK_VARIANT_NAME "research"
#elif HAK_HARDENED
#define HAK_VARIANT_OPTIONS "policy/options_hardened.def"
#define HAK_VARIANT_NAME "hardened"
#else
#define HAK_VARIANT_OPTIONS "policy/options_production.def"
#define HAK_VARIANT_NAME "production"
#endif

_Static_assert(HAK_GUARD + HAK_RESEARCH + HAK_HARDENED <= 1, "a library is of one variant");
_Static_assert(HAK_WRAPPED <= HAK_GUARD + HAK_RESEARCH, "other builds wrap nothing");

#if HAK_WRAPPED
#include "base/core_names.h"
#endif
