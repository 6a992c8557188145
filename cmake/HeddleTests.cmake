# The extent of the tests. By default each promise at two levels of optimisation, with the lab's
# main programs; `./dev test --all` has every level, library and program, and longer runs.
option(HEDDLE_TEST_ALL "Test at every level, with every program, and for longer" OFF)
if(HEDDLE_TEST_ALL)
  set(HEDDLE_TEST_LEVELS O0 O1 O2 O3 Os)
  set(HEDDLE_TEST_KILLS 200)
  # Lines for a debugger, but not variables: those are a fifth of the time that it takes to compile.
  set(HEDDLE_TEST_FLAGS -g1)
else()
  set(HEDDLE_TEST_LEVELS O0 O2)
  set(HEDDLE_TEST_KILLS 20)
  # The tests' own code is half of what there is to compile; what they test is optimised.
  set(HEDDLE_TEST_FLAGS -O0 -g0)
endif()

# heddle_doctest: what a program of C++ tests links. Its main() is compiled once for all programs, as that takes six seconds.
if(BUILD_TESTING)
  find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h)
  if(NOT DOCTEST_INCLUDE_DIR)
    message(FATAL_ERROR "the tests need doctest: apt-get install doctest-dev (or configure with -DBUILD_TESTING=OFF)")
  endif()
  add_library(heddle_doctest_main OBJECT "${PROJECT_SOURCE_DIR}/tests/doctest_main.cpp")
  target_include_directories(heddle_doctest_main SYSTEM PRIVATE "${DOCTEST_INCLUDE_DIR}")
  target_compile_options(heddle_doctest_main PRIVATE ${HEDDLE_TEST_FLAGS})
  target_link_libraries(heddle_doctest_main PRIVATE heddle_warnings)
  add_library(heddle_doctest INTERFACE)
  target_include_directories(heddle_doctest SYSTEM INTERFACE "${DOCTEST_INCLUDE_DIR}")
  target_sources(heddle_doctest INTERFACE "$<TARGET_OBJECTS:heddle_doctest_main>")
endif()
