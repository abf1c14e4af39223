# The model checker (model.h): the library as it is built for ThreadSanitizer, and a checker in
# ThreadSanitizer's place.
if(NOT HAKMEM_TEST_SANITIZERS OR NOT HAKMEM_VARIANT STREQUAL "production")
  return()
endif()
set(model ${PROJECT_SOURCE_DIR}/tests/model)
set(model_scenes ${model}/scenes.c ${model}/scene_lock.c ${model}/scene_remote.c
    ${model}/scene_heaps.c ${model}/scene_epoch.c)
add_executable(check_models ${model}/main.c ${model}/explore.c ${model}/memory.c ${model}/plain.c
               ${model}/entry.c ${model}/trace.c ${model_scenes})
target_include_directories(check_models PRIVATE ${model} ${library_folder})
target_compile_definitions(check_models PRIVATE _GNU_SOURCE HAK_REPLACE=0 HAK_SLOWDOWN=0)
target_compile_options(check_models PRIVATE -O2 -g ${keep_calls})
set_source_files_properties(${model_scenes} PROPERTIES COMPILE_OPTIONS "-fsanitize=thread;-O1")
add_dependencies(check_models hakmem_thread)
target_link_libraries(check_models PRIVATE $<TARGET_FILE:hakmem_thread> Threads::Threads
                                           ${CMAKE_DL_LIBS} hakmem_warnings)
foreach(call syscall hak_policy_now hak_os_now_ms)
  target_link_options(check_models PRIVATE -Wl,--wrap=${call})
endforeach()
add_test(NAME model.check COMMAND check_models)
set_tests_properties(model.check PROPERTIES LABELS unit TIMEOUT 1200)
