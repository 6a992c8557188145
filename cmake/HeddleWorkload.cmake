# Lab programs: one executable for each workload and set of flags. heddle_model_sources() says in
# which file a model is.

set(HEDDLE_LAB_DIR "${CMAKE_BINARY_DIR}/lab")

# A flavour is a set of flags that programs share: an object that two programs of one flavour need is compiled once.
# -O0 -g is how the function-tracer paper built its programs. Optimised programs have no debug information, a third of
# their compile time, unless the whole build is for debugging.
set(heddle_flags_O0 -O0 -g)
set(heddle_flags_O2 -O2)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  list(APPEND heddle_flags_O2 -g)
endif()
# Profiled: the same code, with the debug information that tells a profile which functions were inlined where.
set(heddle_flags_O2-profiled -O2 -g)
# Recordable: what `heddle flags` prints, without the calls of the libraries' headers and the lab's own. At -O2, GCC 12
# crashes on coroutines that transfer symmetrically with -finstrument-functions: the other way in.
set(heddle_flags_O0-recordable -O0 -g -finstrument-functions
  -finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/,heddle/coop/,lab/harness/)
set(heddle_flags_O2-recordable -O2 -g -pg -mfentry -minstrument-return=call
  -include "${PROJECT_SOURCE_DIR}/include/heddle/return.h")

# heddle_flavour(FLAVOUR): the object library lab-main-FLAVOUR, which each of its programs links: main(), the text of the
# flags, and the headers that nearly every source includes, compiled once.
function(heddle_flavour flavour)
  if(TARGET lab-main-${flavour})
    return()
  endif()
  list(JOIN heddle_flags_${flavour} " " text)
  string(STRIP "${CMAKE_CXX_FLAGS} -std=c++20 ${text}" text)
  set(flags "${PROJECT_BINARY_DIR}/CMakeFiles/lab-flags/${flavour}.cpp")
  file(CONFIGURE OUTPUT "${flags}" CONTENT "extern const char* const heddle_lab_flags = \"@text@\";\n" @ONLY)
  heddle_lab_objects(lab-main-${flavour} ${flavour} SOURCES "${PROJECT_SOURCE_DIR}/lab/harness/main.cpp" "${flags}")
  # A compiler takes precompiled headers only before anything else, so not after the -include of the second way in.
  if(NOT flavour STREQUAL "O2-recordable")
    target_precompile_headers(lab-main-${flavour} PRIVATE "${PROJECT_SOURCE_DIR}/lab/harness/precompiled.hpp")
  endif()
endfunction()

# heddle_lab_objects(TARGET FLAVOUR SOURCES … [LIBRARIES …]): an object library of that flavour.
function(heddle_lab_objects target flavour)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
  # A program's objects, not a library's: calls within the program are direct.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIE)
  heddle_of_flavour(${target} ${flavour} LIBRARIES ${arg_LIBRARIES})
endfunction()

# heddle_of_flavour(TARGET FLAVOUR [LIBRARIES …]): the flavour's flags and headers.
function(heddle_of_flavour target flavour)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  target_compile_options(${target} PRIVATE -std=c++20 ${heddle_flags_${flavour}})
  target_link_libraries(${target} PRIVATE heddle_lab_harness heddle::coop heddle_warnings ${arg_LIBRARIES})
  get_target_property(headers lab-main-${flavour} PRECOMPILE_HEADERS)
  if(headers AND NOT target STREQUAL "lab-main-${flavour}")
    target_precompile_headers(${target} REUSE_FROM lab-main-${flavour})
  endif()
endfunction()

# heddle_problem(NAME VARIANTS O0 O2 [RECORDABLE] SOURCES workload.cpp … [LIBRARIES …]): what several programs share, the
# problem and its oracle: compiled once a flavour, as NAME-problem-FLAVOUR.
function(heddle_problem name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECORDABLE" "" "VARIANTS;SOURCES;LIBRARIES")
  foreach(variant IN LISTS arg_VARIANTS)
    set(flavours ${variant})
    if(arg_RECORDABLE AND NOT HEDDLE_UNSANITIZED)
      list(APPEND flavours ${variant}-recordable)
    endif()
    foreach(flavour IN LISTS flavours)
      heddle_flavour(${flavour})
      heddle_lab_objects(${name}-problem-${flavour} ${flavour} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
    endforeach()
  endforeach()
endfunction()

# heddle_model_sources(SOURCES DEFINITIONS MODEL…): finds the files of these models and the
# definitions that they are compiled with. The first file that exists has the model:
#   fiber/asm              fiber_asm.cpp
#   parallel/asm           parallel.cpp, which is compiled for each kind of strand, from a generated
#                          file that says for which (harness/strand_kinds.hpp)
#   cooperative/asm-loop   cooperative_asm.cpp, with the other models cooperative/asm
#   heddle/strands         heddle.cpp, with the other models of that kind
#   fiber/boost            fibers.cpp, with a definition for each context that the program's models
#                          name: HEDDLE_FIBER_BOOST (harness/fiber_models.hpp)
function(heddle_model_sources sources_out definitions_out)
  set(sources)
  set(definitions)
  foreach(model IN LISTS ARGN)
    string(REPLACE "/" "_" file "${model}")
    string(REGEX REPLACE "-[^-]*$" "" common "${file}")
    string(REGEX REPLACE "/.*" "" kind "${model}")
    set(found)
    set(here "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${here}/${file}.cpp" AND
        model MATCHES "^(cooperative|parallel)/(asm|stackless)(.*)$")
      set(written "${here}/${CMAKE_MATCH_1}${CMAKE_MATCH_3}.cpp")
      string(COMPARE EQUAL "${CMAKE_MATCH_2}" asm stackful)
      if(EXISTS "${written}")
        set(found "${CMAKE_CURRENT_BINARY_DIR}/${file}.cpp")
        file(CONFIGURE OUTPUT "${found}"
          CONTENT "#define STACKFUL ${stackful}\n#include \"${written}\"\n")
      endif()
    endif()
    foreach(candidate IN ITEMS ${file} ${common} ${kind} ${kind}s)
      if(NOT found AND EXISTS "${here}/${candidate}.cpp")
        set(found ${candidate}.cpp)
      endif()
    endforeach()
    if(NOT found)
      message(FATAL_ERROR "no source for the model ${model} in ${here}: ${file}.cpp, say")
    endif()
    list(APPEND sources ${found})
    if(found STREQUAL "${kind}s.cpp")
      string(TOUPPER "HEDDLE_${file}" definition)
      list(APPEND definitions ${definition})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES sources)
  set(${sources_out} ${sources} PARENT_SCOPE)
  set(${definitions_out} ${definitions} PARENT_SCOPE)
endfunction()

# heddle_workload(NAME VARIANTS O0 O2 MODELS serial fiber/asm … [RECORDABLE] [PROBLEMS other …] [SOURCES workload.cpp …]
#   [LIBRARIES …] [TEST_ARGUMENTS …])
#
# Builds lab/NAME-O0, lab/NAME-O2 …; heddle_model_sources() says where a model is. Each model of each
# program is also a test: TEST_ARGUMENTS are the parameters of a small run. RECORDABLE builds
# lab/NAME-O0-recordable … as well, to be run by lab/recorded (not under a sanitizer, whose calls
# would be recorded, too). SOURCES become the problem NAME; PROBLEMS are those of others that the
# program links as well.
function(heddle_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECORDABLE" "" "VARIANTS;MODELS;PROBLEMS;SOURCES;LIBRARIES;TEST_ARGUMENTS")
  heddle_model_sources(models definitions ${arg_MODELS})
  set(problems ${arg_PROBLEMS})
  set(recordable)
  if(arg_RECORDABLE)
    set(recordable RECORDABLE)
  endif()
  if(arg_SOURCES)
    heddle_problem(${name} ${recordable} VARIANTS ${arg_VARIANTS} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
    list(APPEND problems ${name})
  endif()
  foreach(variant IN LISTS arg_VARIANTS)
    set(flavours ${variant})
    if(recordable AND NOT HEDDLE_UNSANITIZED)
      list(APPEND flavours ${variant}-recordable)
    endif()
    foreach(flavour IN LISTS flavours)
      heddle_lab_program(${name} ${flavour} PROBLEMS ${problems} SOURCES ${models} LIBRARIES ${arg_LIBRARIES})
      target_compile_definitions(${name}-${flavour} PRIVATE ${definitions})
    endforeach()
    foreach(model IN LISTS arg_MODELS)
      heddle_lab_test("${name}-${variant}" "${model}" ${arg_TEST_ARGUMENTS})
    endforeach()
  endforeach()
endfunction()

# The models of a workload for any context that needs no library. ThreadSanitizer wants a longjmp to
# stay on its stack.
set(HEDDLE_FIBERS fiber/asm fiber/pthread fiber/setjmp fiber/ucontext)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  list(REMOVE_ITEM HEDDLE_FIBERS fiber/setjmp)
endif()

# heddle_optional_fibers(NAME TEST_ARGUMENTS …): the same for each context that needs a library, in a
# program of its own, NAME-BACKEND-O2, so that a missing library is a missing program.
function(heddle_optional_fibers name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TEST_ARGUMENTS")
  foreach(backend IN LISTS HEDDLE_OPTIONAL_BACKENDS)
    heddle_workload("${name}-${backend}" VARIANTS O2 PROBLEMS ${name} MODELS "fiber/${backend}"
      TEST_ARGUMENTS ${arg_TEST_ARGUMENTS})
  endforeach()
endfunction()

# heddle_lab_program(NAME FLAVOUR PROBLEMS … SOURCES … [LIBRARIES …]): the program lab/NAME-FLAVOUR.
function(heddle_lab_program name flavour)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "PROBLEMS;SOURCES;LIBRARIES")
  heddle_flavour(${flavour})
  set(target "${name}-${flavour}")
  set(objects $<TARGET_OBJECTS:lab-main-${flavour}>)
  foreach(problem IN LISTS arg_PROBLEMS)
    list(APPEND objects $<TARGET_OBJECTS:${problem}-problem-${flavour}>)
  endforeach()
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_SOURCES} ${objects})
  heddle_of_flavour(${target} ${flavour} LIBRARIES ${arg_LIBRARIES})
  if(NOT "-g" IN_LIST heddle_flags_${flavour})
    # The libraries' would be most of the program.
    target_link_options(${target} PRIVATE -Wl,--strip-debug)
  endif()
  heddle_in_lab(${target})
endfunction()

# Patterns of the files in lab/ that the main experiments use, those with an [[answer]]: what `./dev compare` measures if it
# is asked for nothing else. `{opt}` and its like stand for any word.
set(HEDDLE_MAIN_PROGRAMS)
file(GLOB experiments CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/experiments/*.toml")
foreach(experiment IN LISTS experiments)
  file(READ "${experiment}" text)
  if(text MATCHES "\n\\[\\[answer\\]\\]")
    string(REGEX MATCHALL "{lab}/[^\"]+" words "${text}")
    foreach(word IN LISTS words)
      string(REGEX REPLACE "^{lab}/" "" word "${word}")
      string(REGEX REPLACE "{[a-z_]+}" "[A-Za-z0-9_]+" word "${word}")
      list(APPEND HEDDLE_MAIN_PROGRAMS "${word}")
    endforeach()
  endif()
endforeach()
list(REMOVE_DUPLICATES HEDDLE_MAIN_PROGRAMS)

# heddle_is_main(FILE OUT): whether a main experiment uses FILE, as seen from lab/.
function(heddle_is_main file out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(pattern IN LISTS HEDDLE_MAIN_PROGRAMS)
    if(file MATCHES "^${pattern}$")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# heddle_for_lab(TARGET FILE): TARGET builds lab/FILE. What can be built here is listed in lab-programs, for ./dev.
function(heddle_for_lab target file)
  add_dependencies(lab ${target})
  heddle_is_main("${file}" main)
  if(main)
    add_dependencies(lab-main ${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY HEDDLE_LAB_PROGRAMS "lab/${file}")
endfunction()

# heddle_in_lab(TARGET [DIRECTORY/]): an executable or a library that experiments use, in lab/ or lab/DIRECTORY.
function(heddle_in_lab target)
  set(directory "${HEDDLE_LAB_DIR}/${ARGN}")
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${directory}" LIBRARY_OUTPUT_DIRECTORY "${directory}")
  get_target_property(name ${target} OUTPUT_NAME)
  if(NOT name)
    set(name ${target})
  endif()
  heddle_for_lab(${target} "${ARGN}${name}")
endfunction()

# heddle_lab_needs(PROGRAM TARGET…): a line of lab-programs with what the program needs when it runs. No dependency between
# targets, because one would have the program's sources wait for Cargo.
function(heddle_lab_needs program)
  heddle_is_main("${program}" main)
  if(main)
    add_dependencies(lab-main ${ARGN})
  endif()
  list(JOIN ARGN " " needs)
  set_property(GLOBAL APPEND PROPERTY HEDDLE_LAB_PROGRAMS "lab/${program} ${needs}")
endfunction()

# heddle_lab_test(PROGRAM MODEL [SUFFIX NAME] [ARGUMENT…]): the program prints the line that docs/workloads.md asks for, and its
# oracle agrees. The suffix tells tests of one model apart.
function(heddle_lab_test program model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SUFFIX" "")
  heddle_is_main("${program}" main)
  if(NOT BUILD_TESTING OR NOT (main OR HEDDLE_TEST_ALL))
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
