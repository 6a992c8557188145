/* That duff.h is C, too. */
#include "duff_in_c.h"

int duff_c_next_word(struct duff_c_words* self) {
  HEDDLE_DUFF_BEGIN(&self->at);
  while (*self->text != '\0') {
    for (self->length = 0; self->text[self->length] > ' '; ++self->length) {
    }
    HEDDLE_DUFF_YIELD(&self->at);
    self->text += self->length;
    while (*self->text == ' ') ++self->text;
  }
  HEDDLE_DUFF_END(&self->at);
}
