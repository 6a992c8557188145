// Is not linked with a library that is built without ThreadSanitizer.
#include "heddle/coop/context/setjmp_context.hpp"

int main() { heddle::coop::setjmp_context here; }
