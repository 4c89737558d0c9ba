// isl 0.25 loses a record of its parametric solver (24 bytes, no handle) when the operation budget ends it. Handles that our own code
// loses are still reported: their spaces come from isl_calloc_or_die.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:isl_malloc_or_die\n"; }
