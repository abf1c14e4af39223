# Builds of the library's inside: its sources once more, under the hak_ names alone (HAK_REPLACE=0).
get_target_property(library_folder hakmem SOURCE_DIR)
get_target_property(library_sources hakmem-objects SOURCES)
list(TRANSFORM library_sources PREPEND ${library_folder}/)
set(gate_sources "") # of a variant that wraps the gate
if(TARGET hakmem-core)
  get_target_property(gate_sources hakmem-core SOURCES)
  list(TRANSFORM gate_sources PREPEND ${library_folder}/)
endif()

set_source_files_properties(${library_folder}/report/build.c PROPERTIES COMPILE_DEFINITIONS
                            "HAK_PROFILE=\"\";HAK_CPU=\"\"")

function(configure_inside target)
  target_include_directories(${target} PRIVATE ${library_folder} PUBLIC ${library_folder}/include)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE HAK_REPLACE=0 HAK_SLOWDOWN=0
    HAK_VERSION="${PROJECT_VERSION}" $<$<STREQUAL:${HAKMEM_VARIANT},hardened>:HAK_HARDENED=1>
    $<$<STREQUAL:${HAKMEM_VARIANT},guard>:HAK_GUARD=1>
    $<$<STREQUAL:${HAKMEM_VARIANT},research>:HAK_RESEARCH=1>)
  target_compile_options(${target} PRIVATE -O1 -g ${keep_calls} -Wno-unused-function ${ARGN})
endfunction()

# inside_library(TARGET OPTIONS...): a static library, compiled with these options.
function(inside_library target)
  add_library(${target} STATIC ${library_sources})
  configure_inside(${target} ${ARGN})
  if(gate_sources)
    add_library(${target}_gate OBJECT ${gate_sources})
    configure_inside(${target}_gate ${ARGN} -DHAK_WRAPPED=1)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_gate>)
  endif()
endfunction()
