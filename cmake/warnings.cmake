# One list of warnings for everything that is compiled here: hakmem_warnings(target).
add_library(hakmem_warnings INTERFACE)
target_compile_options(hakmem_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wvla -Wundef $<$<BOOL:${HAKMEM_WERROR}>:-Werror>)
