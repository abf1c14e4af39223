# Runs a portfile as vcpkg does, without vcpkg: its three functions, as their documentation says.
#   cmake -DPORT_DIR=FOLDER -DINTO=FOLDER -P vcpkg_stand_in.cmake
set(PORT hakmem)
set(CURRENT_PACKAGES_DIR ${INTO}/packages)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
  foreach(kind Release Debug)
    run(${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${INTO}/${kind} -DCMAKE_BUILD_TYPE=${kind}
        -DCMAKE_INSTALL_LIBDIR:STRING=lib ${arg_OPTIONS})
  endforeach()
endfunction()

function(vcpkg_cmake_install)
  foreach(kind Release Debug)
    run(${CMAKE_COMMAND} --build ${INTO}/${kind})
  endforeach()
  run(${CMAKE_COMMAND} --install ${INTO}/Release --prefix ${CURRENT_PACKAGES_DIR})
  run(${CMAKE_COMMAND} --install ${INTO}/Debug --prefix ${CURRENT_PACKAGES_DIR}/debug)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

include(${PORT_DIR}/portfile.cmake)
