# bzip2 compresses two of its own sources and tests the result: two processes, static functions, signal handlers, next to no recursion.
sources="blocksort.c bzip2.c bzlib.c compress.c crctable.c decompress.c huffman.c randtable.c"
defines="-D_FILE_OFFSET_BITS=64"
libraries=""

prepare() { cat "$dir/bzip2/blocksort.c" "$dir/bzip2/bzlib.c" >input; }
script="./bzip2 --keep --force input && ./bzip2 --test input.bz2"
