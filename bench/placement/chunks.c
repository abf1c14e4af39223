#include "pools.h"

/* Chunks: blocks of a group in order of allocation, whatever their size. An empty chunk is used
 * again. The pool at index 0 keeps the free chunks; next_of of a chunk counts its blocks. */
static uint64_t chunk_of(const policy *it, uint64_t at) {
    return it->base + (at - it->base) / it->unit * it->unit;
}

static void open_chunk(policy *it, pool *of) {
    pool *empty = it->pools;
    of->top = empty->free;
    if (of->top != 0)
        empty->free = *next_of(it, of->top + ALIGN);
    else
        of->top = advance(it, it->unit);
    of->end = of->top + it->unit;
    *next_of(it, of->top) = 0;
}

uint64_t take_in_chunk(policy *it, const block *of) {
    uint64_t bytes = ((uint64_t)of->size + ALIGN - 1) / ALIGN * ALIGN;
    uint32_t group = it->group(of);
    pool *from = (pool *)it->pools + 1 + (size_t)group;
    if (group == UINT32_MAX)
        return of->from;
    if (from->top + bytes > from->end)
        open_chunk(it, from);
    uint64_t at = from->top;
    from->top += bytes;
    ++*next_of(it, chunk_of(it, at));
    return at;
}

void give_in_chunk(policy *it, const block *of, uint64_t at) {
    pool *empty = it->pools, *current = empty + 1 + it->group(of);
    if (at == of->from)
        return;
    uint64_t chunk = chunk_of(it, at);
    if (--*next_of(it, chunk) > 0)
        return;
    if (current->end == chunk + it->unit) { /* still being filled: from its start again */
        current->top = chunk;
        return;
    }
    *next_of(it, chunk + ALIGN) = empty->free;
    empty->free = chunk;
}
