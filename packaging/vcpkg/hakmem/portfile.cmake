# An overlay port: it builds the tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DHAKMEM_BENCH=OFF -DHAKMEM_TRAINING=OFF -DHAKMEM_TESTS=OFF -DHAKMEM_INSTALL=ON)
vcpkg_cmake_install()
# Projects of type Debug look below debug/ first. What lies there would lead to headers that do not,
# so they take the package of Release, whose library is compiled alike.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include"
     "${CURRENT_PACKAGES_DIR}/debug/lib/cmake" "${CURRENT_PACKAGES_DIR}/debug/lib/pkgconfig")
# find_package looks in lib/cmake as well: paths in the package are relative to its own files.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
# One build installs both libraries, whatever the triplet says.
set(VCPKG_POLICY_DLLS_IN_STATIC_LIBRARY enabled)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
