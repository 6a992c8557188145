# Lab programs: one executable for each workload and set of flags, one source file for each model.

set(HEDDLE_LAB_DIR "${CMAKE_BINARY_DIR}/lab")

# heddle_workload(NAME VARIANTS O0 O2 MODELS serial fiber/asm … [RECORDABLE] [SOURCES workload.cpp …] [LIBRARIES …])
#
# Builds lab/NAME-O0, lab/NAME-O2 …; model `fiber/asm` is the file fiber_asm.cpp. Each model of each program is
# also a test: TEST_ARGUMENTS are the parameters of a small run. RECORDABLE builds lab/NAME-O0-recordable … as well, to be
# run by lab/recorded.
function(heddle_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECORDABLE" "" "VARIANTS;MODELS;SOURCES;LIBRARIES;TEST_ARGUMENTS")
  set(sources "${PROJECT_SOURCE_DIR}/lab/harness/main.cpp" ${arg_SOURCES})
  foreach(model IN LISTS arg_MODELS)
    string(REPLACE "/" "_" file "${model}")
    list(APPEND sources "${file}.cpp")
  endforeach()

  foreach(variant IN LISTS arg_VARIANTS)
    set(target "${name}-${variant}")
    # As the function-tracer paper built its programs: -O0 -g.
    heddle_lab_program("${target}" FLAGS "-${variant}" -g SOURCES ${sources} LIBRARIES ${arg_LIBRARIES})
    foreach(model IN LISTS arg_MODELS)
      heddle_lab_test("${target}" "${model}" ${arg_TEST_ARGUMENTS})
    endforeach()
    # Not with a sanitizer, whose calls would be recorded, too.
    if(arg_RECORDABLE AND NOT HEDDLE_UNSANITIZED)
      heddle_lab_program("${target}-recordable"
        FLAGS "-${variant}" -g ${heddle_recordable_${variant}} SOURCES ${sources} LIBRARIES ${arg_LIBRARIES})
    endif()
  endforeach()
endfunction()

# What `heddle flags` prints; the libraries' headers and the lab's own are left out. From -O1 on, GCC 12 crashes on coroutines
# that transfer symmetrically with -finstrument-functions: the other way in.
set(heddle_recordable_O0 -finstrument-functions
  -finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/,heddle/coop/,lab/harness/)
set(heddle_recordable_O2 -pg -mfentry -minstrument-return=call -include "${PROJECT_SOURCE_DIR}/include/heddle/return.h")

# heddle_lab_program(TARGET FLAGS … SOURCES … [LIBRARIES …])
function(heddle_lab_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FLAGS;SOURCES;LIBRARIES")
  set(flags -std=c++20 ${arg_FLAGS})
  list(JOIN flags " " flags_text)
  string(STRIP "${CMAKE_CXX_FLAGS} ${flags_text}" flags_text)
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_compile_options(${target} PRIVATE ${flags})
  target_compile_definitions(${target} PRIVATE "HEDDLE_LAB_FLAGS=\"${flags_text}\"")
  target_link_libraries(${target} PRIVATE heddle_lab_harness heddle::coop heddle_warnings ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${HEDDLE_LAB_DIR}")
  add_dependencies(lab ${target})
endfunction()

# heddle_lab_test(PROGRAM MODEL [SUFFIX NAME] [ARGUMENT…]): the program prints the line that docs/workloads.md asks for, and its
# oracle agrees. The suffix tells tests of one model apart.
function(heddle_lab_test program model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SUFFIX" "")
  if(NOT BUILD_TESTING)
    return()
  endif()
  string(JOIN "." test "lab" "${program}" "${model}" ${arg_SUFFIX})
  add_test(
    NAME "${test}"
    COMMAND "${CMAKE_COMMAND}"
      "-DPROGRAM=${HEDDLE_LAB_DIR}/${program}" "-DMODEL=${model}" "-DARGUMENTS=${arg_UNPARSED_ARGUMENTS}"
      -P "${PROJECT_SOURCE_DIR}/lab/harness/tests/check_line.cmake")
  # A model that lacks something here says so and ends with 77.
  set_tests_properties("${test}" PROPERTIES TIMEOUT 60 SKIP_REGULAR_EXPRESSION "ended with 77:")
endfunction()

# heddle_go_program(NAME PACKAGE [VARIANTS O0 O2]): builds the Go package in the module lab/, if there is a Go toolchain. With
# variants it builds NAME-O0 …, to stand beside the C++ models of the same flags: -O0 is Go without optimisation and inlining
# (what its documentation says for debuggers), everything else is Go as it always compiles.
function(heddle_go_program name package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "VARIANTS")
  if(arg_VARIANTS)
    foreach(variant IN LISTS arg_VARIANTS)
      set(flags)
      if(variant STREQUAL "O0")
        set(flags FLAGS "-gcflags=all=-N -l")
      endif()
      heddle_go_executable("${name}-${variant}" "${package}" ${flags})
    endforeach()
  else()
    heddle_go_executable("${name}" "${package}")
  endif()
endfunction()

# heddle_go_executable(NAME PACKAGE [FLAGS …]): builds one.
function(heddle_go_executable name package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FLAGS")
  if(NOT HEDDLE_GO)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/*.go" "${PROJECT_SOURCE_DIR}/lab/go.mod")
  set(output "${HEDDLE_LAB_DIR}/${name}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${HEDDLE_GO_COMMAND} build -trimpath -buildvcs=false ${arg_FLAGS} -o "${output}" "${package}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/lab"
    DEPENDS ${sources}
    COMMENT "Building lab/${name} with Go"
    VERBATIM)
  add_custom_target(${name} DEPENDS "${output}")
  add_dependencies(lab ${name})
endfunction()
