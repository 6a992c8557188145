/* A real program: the Lua interpreter, built from its sources with hooks, runs lua.lua in a state
 * of its own on each thread. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

uint64_t work(long rounds) {
  lua_State* const state = luaL_newstate();
  if (state == NULL) abort();
  luaL_openlibs(state);
  if (luaL_dofile(state, HEDDLE_LAB_SCRIPT) != LUA_OK) {
    fprintf(stderr, "error: %s\n", lua_tostring(state, -1));
    abort();
  }
  lua_getglobal(state, "work");
  lua_pushinteger(state, rounds);
  if (lua_pcall(state, 1, 1, 0) != LUA_OK) {
    fprintf(stderr, "error: %s\n", lua_tostring(state, -1));
    abort();
  }
  const uint64_t result = (uint64_t)lua_tointeger(state, -1);
  lua_close(state);
  return result;
}
