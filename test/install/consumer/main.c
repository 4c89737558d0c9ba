// Tells the version, or whose fault it is that a formula cannot be compiled, from C.
#include <stdio.h>
#include "heddle/c.h"

int main(void) {
  heddle_engine* engine = NULL;
  heddle_attention* attention = NULL;
  heddle_spec spec = {.size = sizeof spec, .mask = "k <= q", .head_dim = 8};
  heddle_status status = heddle_engine_create(NULL, &engine);
  if (status == HEDDLE_OK) status = heddle_attention_create(engine, &spec, &attention);
  printf("%s %s\n", heddle_status_name(status), status == HEDDLE_OK ? heddle_version() : heddle_last_error());
  heddle_attention_destroy(attention);
  heddle_engine_destroy(engine);
  return (int)status;
}
