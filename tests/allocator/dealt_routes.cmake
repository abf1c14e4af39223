# routes_dealt: definitions by which each class takes another route than its neighbours, so that one
# library has all routes.
include_guard()

# The table of classes with the routes dealt out in turn.
file(STRINGS ${library_folder}/base/classes.def class_rows REGEX "^HAK_CLASS")
set(dealt_rows "")
set(dealt 0)
foreach(row IN LISTS class_rows)
  string(REPLACE "HAK_SMALL_ROUTE" "HAK_DEALT_SMALL_${dealt}" row "${row}")
  string(REPLACE "HAK_MEDIUM_ROUTE" "HAK_DEALT_MEDIUM_${dealt}" row "${row}")
  string(APPEND dealt_rows "${row}\n")
  math(EXPR dealt "(${dealt} + 1) % 3")
endforeach()
set(dealt_table ${CMAKE_CURRENT_BINARY_DIR}/routes/dealt_classes.def)
file(CONFIGURE OUTPUT ${dealt_table} CONTENT "${dealt_rows}" @ONLY)
set(routes_dealt HAK_CLASS_TABLE="${dealt_table}"
    HAK_DEALT_SMALL_0=HAK_ROUTE_HOT HAK_DEALT_SMALL_1=HAK_ROUTE_ULTRA
    HAK_DEALT_SMALL_2=HAK_ROUTE_ULTRA_LIST HAK_DEALT_MEDIUM_0=HAK_ROUTE_MID
    HAK_DEALT_MEDIUM_1=HAK_ROUTE_POOL HAK_DEALT_MEDIUM_2=HAK_ROUTE_LARGE)
