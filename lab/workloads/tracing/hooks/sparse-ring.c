/* The limit of a sparse clock: 128 bytes of our records are eleven events. */
#define LAB_EVENTS_A_READING 11
#include "ring.c"
