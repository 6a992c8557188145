# Language, warnings and where things land.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
endif()

# For programs that are recorded, and for libraries loaded into them: a sanitizer's run-time would have to be loaded before these.
set(HEDDLE_UNSANITIZED "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(HEDDLE_UNSANITIZED -fno-sanitize=all)
endif()

option(HEDDLE_WERROR "Warnings are errors" OFF)
add_library(heddle_warnings INTERFACE)
target_compile_options(heddle_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
