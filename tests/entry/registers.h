// The layout of `struct state` in bytes, for registers.c and registers.S.
#define STATE_FLAGS 120
#define STATE_MISALIGNED 128
#define STATE_AVX 136
#define STATE_X87 144
#define STATE_VECTORS 160
