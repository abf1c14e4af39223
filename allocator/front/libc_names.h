/* libc's names for the functions of a wrapper. Included once, behind their definitions: an alias
 * must stand in the file of what it names. The gate gives its functions the same names. */
HAK_LIBC_NAMES(malloc)
HAK_LIBC_NAMES(free)
HAK_LIBC_ALIAS(cfree, hak_free)
HAK_LIBC_NAMES(calloc)
HAK_LIBC_NAMES(realloc)
HAK_LIBC_NAME(reallocarray)
HAK_LIBC_NAME(malloc_usable_size)
HAK_LIBC_NAME(posix_memalign)
HAK_LIBC_NAME(aligned_alloc)
HAK_LIBC_NAMES(memalign)
