# Tables as a profile's geometry.toml makes them: `hand`, with a block in hand; `limits`, at the least and
# the most that is legal; and `wide`, with pages of 128 KiB. In the first two malloc counts on its hot path.
include_guard()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${library_folder}/base/constants.def
             ${library_folder}/base/classes.def)

# The table of constants with other values: set_constants(FILE NAME=VALUE ...)
function(set_constants file)
  file(READ ${library_folder}/base/constants.def table)
  foreach(setting IN LISTS ARGN)
    string(REPLACE "=" ";" setting ${setting})
    list(GET setting 0 name)
    list(GET setting 1 value)
    string(REGEX REPLACE "(\\(${name}, )[0-9]+" "\\1${value}" table "${table}")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${table}" @ONLY)
endfunction()

set(folder ${CMAKE_CURRENT_BINARY_DIR}/cuts)
set_constants(${folder}/hand_constants.def HAK_HAND=1 HAK_COUNT_MALLOCS=1)
set(cut_hand HAK_CONSTANT_TABLE="${folder}/hand_constants.def")

set_constants(${folder}/limits_constants.def HAK_SMALL_DEPTH=2 HAK_DEEP_BYTES=4096
  HAK_DEEP_MOST=1024 HAK_COARSE_BLOCKS=0 HAK_FIRST_BATCH=1 HAK_BATCH_SHARE=32 HAK_FEW_SHARE=64
  HAK_PREFETCH_LINES=4 HAK_WARM_SLABS=3 HAK_KEEP_PAGES=0 HAK_KEEP_SHARE=64
  HAK_COUNT_MALLOCS=1)
set(cut_limits HAK_CLASS_TABLE="${CMAKE_CURRENT_SOURCE_DIR}/support/limits_classes.def"
    HAK_CONSTANT_TABLE="${folder}/limits_constants.def")

file(STRINGS ${library_folder}/base/classes.def class_rows REGEX "^HAK_CLASS")
list(POP_FRONT class_rows) # the class of 16 bytes is left out
list(JOIN class_rows "\n" wide_rows)
file(CONFIGURE OUTPUT ${folder}/wide_classes.def CONTENT "${wide_rows}" @ONLY)
set_constants(${folder}/wide_constants.def HAK_PAGE_SHIFT=17 HAK_HAND=1)
set(cut_wide HAK_CLASS_TABLE="${folder}/wide_classes.def"
    HAK_CONSTANT_TABLE="${folder}/wide_constants.def")
