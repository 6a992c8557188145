# The files that `cmake --install` installs, and where. Relative to the prefix, so that the whole
# can be moved:
#
#   bin/heddle           if build/bin/heddle has been built (./dev build); the command looks for libheddle.so and headers beside itself
#   lib…/libheddle.so    what `heddle record` loads into the traced program; libheddle-sync.so, with --sync; libheddle-alloc.so, with --alloc
#   lib…/                libheddle_coop.a and the packages: find_package(heddle) gives heddle::coop, heddle::coop_asan for programs under
#                        AddressSanitizer and, for heddle/trace.h alone, heddle::trace_api; pkg-config has heddle-coop and, for programs
#                        that link the recorder, heddle
#   include/heddle/      the public headers
#   share/heddle/heddle_gdb.py
#   share/…              manual pages and completions, if they have been made (ninja -C build heddle_manual)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heddle" DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

if(TARGET heddle_trace)
  install(TARGETS heddle_trace heddle_trace_sync heddle_trace_alloc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(PROGRAMS "${PROJECT_BINARY_DIR}/bin/heddle" DESTINATION bin OPTIONAL)
install(CODE "
  if(NOT EXISTS \"${PROJECT_BINARY_DIR}/bin/heddle\")
    message(STATUS \"Heddle: the command is left out, for ${PROJECT_BINARY_DIR}/bin/heddle is not built: ./dev build\")
  endif()")

# heddle/trace.h, for programs that tell the recorder something: nothing to link.
add_library(heddle_trace_api INTERFACE)
target_include_directories(heddle_trace_api INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
set_target_properties(heddle_trace_api PROPERTIES EXPORT_NAME trace_api)
install(TARGETS heddle_trace_api EXPORT heddle)

install(TARGETS heddle_coop heddle_coop_asan EXPORT heddle ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set_target_properties(heddle_coop PROPERTIES EXPORT_NAME coop)
set_target_properties(heddle_coop_asan PROPERTIES EXPORT_NAME coop_asan)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
install(EXPORT heddle NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION "${package}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/heddleConfig.cmake.in" "${PROJECT_BINARY_DIR}/heddleConfig.cmake"
  INSTALL_DESTINATION "${package}"
  NO_SET_AND_CHECK_MACRO)
# Below 1.0 every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/heddleConfig.cmake" "${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake" "${CMAKE_CURRENT_LIST_DIR}/HeddleLibraries.cmake"
  DESTINATION "${package}")

# The prefix of pkg-config's files is where they are found.
file(RELATIVE_PATH heddle_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" heddle_up "${heddle_up}")
set(heddle_coop_libraries "")
foreach(library IN LISTS HEDDLE_COOP_LIBRARIES)
  string(APPEND heddle_coop_libraries " -Wl,--push-state,--as-needed,-l${library},--pop-state")
endforeach()
foreach(name IN ITEMS heddle heddle-coop)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

install(FILES coop/gdb/heddle_gdb.py DESTINATION share/heddle)
install(FILES LICENSE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/" DESTINATION share OPTIONAL)
