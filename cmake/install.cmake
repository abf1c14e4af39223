# What `cmake --install` installs: libraries, header, pkg-config file and CMake package. A version that
# the pipeline has published is installed by `pipeline install`, from the same templates.
include(GNUInstallDirs)

file(RELATIVE_PATH HAKMEM_LIB_TO_INCLUDE
     "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
set(package_dir ${PROJECT_BINARY_DIR}/package)
foreach(name hakmem-config.cmake hakmem-config-version.cmake hakmem.pc)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.in ${package_dir}/${name} @ONLY)
endforeach()

install(TARGETS hakmem hakmem-static
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/allocator/include/hakmem.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${package_dir}/hakmem-config.cmake ${package_dir}/hakmem-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hakmem)
install(FILES ${package_dir}/hakmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
