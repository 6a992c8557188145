/* Recorded by the installed command. */
void traced_function(void);

void traced_function(void) {}

int main(void) {
  traced_function();
  return 0;
}
