// One of two libraries of the same size: TWIN tells them apart.
int twin(void);

int twin(void) { return TWIN; }

// One of the twins' own names, for patterns that match one of them.
#define JOINED(a, b) a##b
#define OWN(number) JOINED(twin_, number)
int OWN(TWIN)(void);

int OWN(TWIN)(void) { return TWIN; }
