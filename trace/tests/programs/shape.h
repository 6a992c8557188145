// Helpers of the programs of the shapes tests: each program counts its own calls, for a test to
// compare.
#ifndef SHAPE_H
#define SHAPE_H

/// Not a call.
#define PLAIN __attribute__((no_instrument_function))

/// A call that no optimisation takes away: hooks of the second way are not inlined with it.
#define CALL __attribute__((noipa))

#endif
