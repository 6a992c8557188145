// Linked statically: nothing of it is recorded.
int main(void) { return 7; }
