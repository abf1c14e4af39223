# The same program with its code at other places, each 32 bytes further: HAKMEM_PLACED names such programs.
#
# On some processors a load is slow while another load shares the lowest eight or nine bits of its address.
# Where a loop of ours meets one of the library's is chance. So the judge runs each program at all places:
# docs/verdicts.md.
set(HAKMEM_PLACED "" CACHE STRING "Programs to link with their code at other places, too")
set(HAKMEM_MORE_PLACES 0 CACHE STRING "At how many other places (the pipeline says so: pipeline/judge/schedule.py)")
set(HAKMEM_PLACE_STEP 32)

# also_elsewhere(TARGET NAME LIBRARIES...): placed/NAME-1, -2, ... beside the program NAME.
function(also_elsewhere target name)
  if(NOT HAKMEM_MORE_PLACES OR NOT name IN_LIST HAKMEM_PLACED)
    return()
  endif()
  foreach(place RANGE 1 ${HAKMEM_MORE_PLACES})
    math(EXPR bytes "${place} * ${HAKMEM_PLACE_STEP}")
    if(NOT TARGET place_${place})
      add_library(place_${place} OBJECT ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/place.c)
      target_compile_definitions(place_${place} PRIVATE PLACE_BYTES=${bytes})
    endif()
    add_executable(${target}-${place} $<TARGET_OBJECTS:${target}>)
    add_dependencies(${target}-${place} place_${place})
    target_link_libraries(${target}-${place} PRIVATE ${ARGN})
    # Options stand in front of the objects, and linkers lay code out in this order.
    target_link_options(${target}-${place} PRIVATE $<TARGET_OBJECTS:place_${place}>
                        -Wl,-u,place_of_code -Wl,--strip-debug)
    set_target_properties(${target}-${place} PROPERTIES LINKER_LANGUAGE C
      OUTPUT_NAME ${name}-${place} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/placed")
  endforeach()
endfunction()
