# Rust programs, built by Cargo as a part of the build: the command and what its tests need.
find_program(HEDDLE_CARGO cargo)
set(HEDDLE_PROFILE "release" CACHE STRING
  "Cargo's profile for the command: dev compiles in a third of the time and reads traces slowly, dist is what packages hold")
set_property(CACHE HEDDLE_PROFILE PROPERTY STRINGS dev release dist)
if(HEDDLE_PROFILE STREQUAL "dev")
  set(heddle_profile_directory debug)
else()
  set(heddle_profile_directory "${HEDDLE_PROFILE}")
endif()
set(HEDDLE_CARGO_DIR "${PROJECT_BINARY_DIR}" CACHE PATH "Cargo's own directory; builds of several presets share one")

set(heddle_run_cargo -P "${PROJECT_SOURCE_DIR}/cmake/RunCargo.cmake")
set(heddle_cargo "${CMAKE_COMMAND}" "-DLOG=${HEDDLE_CARGO_DIR}/cargo.log" ${heddle_run_cargo})
set(heddle_optional_cargo "${CMAKE_COMMAND}" "-DLOG=${HEDDLE_CARGO_DIR}/tokio.log" -DOPTIONAL=tokio ${heddle_run_cargo})
# Cargo locks its directory, so a second one would only wait.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS heddle_cargo=1)

# heddle_cargo_program(PACKAGE): bin/PACKAGE, of the workspace host/. Cargo says which sources it depends on.
function(heddle_cargo_program package)
  set(built "${HEDDLE_CARGO_DIR}/${heddle_profile_directory}/${package}")
  set(build build --profile "${HEDDLE_PROFILE}" --package "${package}" --bin "${package}")
  if(BUILD_TESTING AND HEDDLE_PROFILE STREQUAL "dev")
    # With the tests at once, which build the programs that they run: apart from them, some crates would be compiled twice, as
    # tests ask for more of their features.
    set(build test --no-run --workspace)
  endif()
  add_custom_command(
    OUTPUT "${built}"
    COMMAND ${heddle_cargo} -- "${HEDDLE_CARGO}" ${build} --locked --no-default-features --target-dir "${HEDDLE_CARGO_DIR}"
    # Cargo leaves a program alone that would not change.
    COMMAND "${CMAKE_COMMAND}" -E touch "${built}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/host"
    DEPENDS Cargo.toml Cargo.lock .cargo/config.toml
    DEPFILE "${built}.d"
    JOB_POOL heddle_cargo
    COMMENT "Building ${package} with Cargo"
    VERBATIM)
  add_custom_command(
    OUTPUT "${PROJECT_BINARY_DIR}/bin/${package}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${built}" "${PROJECT_BINARY_DIR}/bin/${package}"
    DEPENDS "${built}"
    COMMENT "Copying bin/${package}"
    VERBATIM)
endfunction()

# heddle_tokio_programs(MANIFEST PROGRAM…): lab/PROGRAM of a package of its own, as tokio is a peer and none of ours needs it.
# Where it cannot be had, the build goes on and the comparison says that its rows are skipped.
function(heddle_tokio_programs manifest)
  if(NOT HEDDLE_CARGO)
    return()
  endif()
  get_filename_component(package "${manifest}" DIRECTORY)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${package}/*.rs")
  set(directory "${HEDDLE_CARGO_DIR}/tokio")
  foreach(program IN LISTS ARGN)
    set(built "${directory}/release/${program}")
    add_custom_command(
      OUTPUT "${HEDDLE_LAB_DIR}/${program}"
      COMMAND ${heddle_optional_cargo} -- "${HEDDLE_CARGO}" build --release --locked --manifest-path "${manifest}" --bin "${program}"
        --target-dir "${directory}"
      COMMAND test ! -e "${built}" || cp "${built}" "${HEDDLE_LAB_DIR}/"
      DEPENDS ${sources} "${manifest}" "${package}/Cargo.lock"
      JOB_POOL heddle_cargo
      COMMENT "Building lab/${program} with Cargo"
      VERBATIM)
    add_custom_target(lab-${program} DEPENDS "${HEDDLE_LAB_DIR}/${program}")
    heddle_for_lab(lab-${program} "${program}")
  endforeach()
endfunction()
