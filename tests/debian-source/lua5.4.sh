# Lua runs a script with errors (longjmp out of C frames), a comparator called from inside table.sort, string patterns, deep recursion and coroutines (C calls of
# lua_resume inside each other, on the one C stack). A fixed seed for its hashes, and a
# string cache of one entry (it is indexed by addresses), make two runs alike.
sources=$(cd "$dir/lua5.4" && ls src/*.c | grep -v luac.c)
defines="-DLUA_USE_POSIX -Dluai_makeseed(L)=1 -DSTRCACHE_N=1 -DSTRCACHE_M=1 -I$work"
libraries="-lm"

# The content that the package's own build writes into this header.
printf '#define DEB_HOST_MULTIARCH "%s"\n' "$(gcc -print-multiarch)" >"$work/lua5.4-deb-multiarch.h"

prepare() { cp "$here/lua5.4.lua" script.lua; }
script="./lua5.4 script.lua"
