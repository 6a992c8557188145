// One of two libraries of the same size: TWIN tells them apart.
int twin(void);

int twin(void) { return TWIN; }
