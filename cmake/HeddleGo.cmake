# Go programs of the lab, where there is a Go toolchain.

find_program(HEDDLE_GO go)
if(HEDDLE_GO)
  # Offline, and reproducible whatever the user's own settings are.
  set(HEDDLE_GO_COMMAND "${CMAKE_COMMAND}" -E env
    CGO_ENABLED=0 GOFLAGS= GOWORK=off GOTOOLCHAIN=local GOPROXY=off "${HEDDLE_GO}")
  if(NOT DEFINED ENV{HOME} AND NOT DEFINED ENV{GOCACHE} AND NOT DEFINED ENV{XDG_CACHE_HOME})
    list(INSERT HEDDLE_GO_COMMAND 3 "GOCACHE=${CMAKE_BINARY_DIR}/go-cache")
  endif()
else()
  message(STATUS "Go not found: the goroutine models are left out (apt-get install golang-go)")
endif()

# Two that begin together would both compile Go's own library.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS heddle_go=1)

# heddle_go_program(NAME PACKAGE [VARIANTS O0 O2]): builds the Go package in the module lab/, if there is a Go toolchain. With
# variants it builds NAME-O0 …, to stand beside the C++ models of the same flags: -O0 is Go without optimisation and inlining
# (what its documentation says for debuggers), everything else is Go as it always compiles.
function(heddle_go_program name package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "VARIANTS")
  if(NOT arg_VARIANTS)
    heddle_go_executable("${name}" "${package}")
  endif()
  foreach(variant IN LISTS arg_VARIANTS)
    set(flags)
    if(variant STREQUAL "O0")
      set(flags FLAGS "-gcflags=all=-N -l")
    endif()
    heddle_go_executable("${name}-${variant}" "${package}" ${flags})
  endforeach()
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
    JOB_POOL heddle_go
    COMMENT "Building lab/${name} with Go"
    VERBATIM)
  add_custom_target(${name} DEPENDS "${output}")
  heddle_for_lab(${name} "${name}")
endfunction()
