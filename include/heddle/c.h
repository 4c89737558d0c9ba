// Heddle from C and from every language that calls C: opaque handles, DLPack tensors, and a status from each call.
//
//   heddle_engine* engine;
//   if (heddle_engine_create(NULL, &engine) != HEDDLE_OK) { fprintf(stderr, "%s\n", heddle_last_error()); return 1; }
//
// Rules of the whole border:
//   - No call throws or aborts on wrong arguments, null pointers included. A call that fails returns whose fault it was, leaves
//     its results as they were (handles are set to NULL), and heddle_last_error() tells what was found and what is expected.
//   - Structs that may grow begin with `size`: set it to sizeof the struct and zero the rest. A zero field means the default.
//     A library older than the header refuses fields that it does not know and that are not zero.
//   - Texts are zero-terminated UTF-8. Nothing given to a call is kept after it, but for the tables of a binding.
//   - Engines, attentions and bindings may be used by several threads at once. Destroying NULL does nothing. Handles may be
//     destroyed in any order: an attention keeps what it needs of its engine.
//   - Tensors are caller-owned DLPack views in CPU memory with lanes == 1; strides == NULL means dense, byte_offset counts.
#pragma once
#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose fault an error is. */
typedef enum heddle_status {
  HEDDLE_OK = 0,
  HEDDLE_USER_ERROR = 1,      /* The caller's input is wrong; nothing was changed or launched. */
  HEDDLE_TOOLCHAIN_ERROR = 2, /* A compiler library or the processor lacks something; the message names it. */
  HEDDLE_RUNTIME_ERROR = 3,   /* Memory or the operating system failed. */
  HEDDLE_INTERNAL_ERROR = 4   /* A defect of Heddle. */
} heddle_status;

/* "ok", "user error", "toolchain error", "runtime error", "internal error"; "unknown status" for anything else. */
const char* heddle_status_name(heddle_status status);

/* Message of this thread's last call that returned a status; empty when it succeeded. Valid until its next such call. */
const char* heddle_last_error(void);

/* Version of the library, "major.minor.patch". */
const char* heddle_version(void);

typedef struct heddle_engine heddle_engine;
typedef struct heddle_attention heddle_attention;
typedef struct heddle_binding heddle_binding;

typedef struct heddle_engine_options {
  size_t size;
  int threads;           /* 0: one a core this process may run on. */
  int no_disk_cache;     /* Not 0: keep kernels in memory only. */
  const char* cache_dir; /* NULL: $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle. */
  int64_t cache_bytes;   /* Bound of the disk cache; 0: 256 MiB. */
  const char* target;    /* "cpu:avx2" or "cpu:avx512"; NULL: the best of this machine. */
} heddle_engine_options;

/* `options` may be NULL: all defaults. */
heddle_status heddle_engine_create(const heddle_engine_options* options, heddle_engine** engine);
void heddle_engine_destroy(heddle_engine* engine);
/* Kernels compiled so far by this engine; 0 for NULL. */
int64_t heddle_engine_compilations(const heddle_engine* engine);

/* What a name in a formula stands for. */
typedef enum heddle_parameter_kind {
  HEDDLE_INT = 0,          /* `integer`, inlined as a constant. */
  HEDDLE_REAL = 1,         /* `real`, inlined as a constant. */
  HEDDLE_DYNAMIC_INT = 2,  /* Given at every launch. */
  HEDDLE_DYNAMIC_REAL = 3, /* Given at every launch. */
  HEDDLE_TABLE = 4         /* An array of `element`, read as name[i] or name[i, j]; contents are given at a launch or bound. */
} heddle_parameter_kind;

typedef struct heddle_parameter {
  const char* name;
  heddle_parameter_kind kind;
  int64_t integer;
  double real;
  DLDataType element;
} heddle_parameter;

/* What to compile. Lengths, batch, heads and strides are not part of it: one kernel serves all of them. */
typedef struct heddle_spec {
  size_t size;
  const char* mask;                   /* Boolean formula; NULL: every pair takes part. */
  const char* score;                  /* Real formula; NULL: s itself. */
  const heddle_parameter* parameters; /* Of both formulas. */
  size_t parameter_count;
  int64_t head_dim;  /* 1 to 256. */
  int64_t value_dim; /* 1 to 256; 0: head_dim. */
  int lse;           /* Not 0: also write the log-sum-exp of the scores. */
  DLDataType dtype;  /* Of q, k, v and o: float 32, bfloat 16 or float 16; all 0: float 32. */
} heddle_spec;

/* Finds the kernel in memory or on disk, or compiles it. */
heddle_status heddle_attention_create(heddle_engine* engine, const heddle_spec* spec, heddle_attention** attention);
void heddle_attention_destroy(heddle_attention* attention);

/* Where a kernel came from. Texts are the attention's and live as long as it does. */
typedef struct heddle_report {
  size_t size;
  const char* origin; /* "compiled", "disk" or "memory" */
  double milliseconds;
  const char* key;  /* Hex digest of the cache key. */
  const char* path; /* File of the kernel on disk; empty without a disk cache. */
  const char* facts;
  const char* plan;
  int64_t scratch_bytes, block_rows, tile_keys;
} heddle_report;

/* Fills the first report->size bytes of `report`. */
heddle_status heddle_attention_report(const heddle_attention* attention, heddle_report* report);

/* Value of a dynamic parameter: `integer` or `real`, by its kind HEDDLE_INT or HEDDLE_REAL. */
typedef struct heddle_value {
  const char* name;
  heddle_parameter_kind kind;
  int64_t integer;
  double real;
} heddle_value;

typedef struct heddle_table {
  const char* name;
  const DLTensor* tensor; /* Rank 1 to 4, any strides. */
} heddle_table;

typedef struct heddle_bind_options {
  size_t size;
  const heddle_table* tables;
  size_t table_count;
  const heddle_value* values; /* All dynamic integer parameters. */
  size_t value_count;
  int64_t batch, heads, kv_heads; /* 0: 1 */
  int64_t sq, sk;
} heddle_bind_options;

/* Binds tables to a kernel at the sizes of the launches to come; compiles nothing. The binding views the memory of the tables,
 * which must outlive it and stay as it is. */
heddle_status heddle_attention_bind(const heddle_attention* attention, const heddle_bind_options* options,
                                    heddle_binding** binding);
void heddle_binding_destroy(heddle_binding* binding);

typedef struct heddle_launch_options {
  size_t size;
  const double* scale;        /* NULL: 1 / sqrt(head_dim). */
  const heddle_value* values; /* All dynamic parameters; with a binding, integers may be left out. */
  size_t value_count;
  const heddle_table* tables; /* Of a kernel with tables: bound for this launch alone, */
  size_t table_count;
  const heddle_binding* binding; /* or bound before. */
} heddle_launch_options;

/* O = softmax(score(scale * Q K^T) over allowed pairs) V. Of the spec's dtype: q [batch, heads, sq, head_dim], k [batch, kv_heads, sk,
 * head_dim], v [batch, kv_heads, sk, value_dim], o [batch, heads, sq, value_dim], any strides with a contiguous last dimension;
 * lse [batch, heads, sq] float32, dense, given exactly when the spec asked for it, else NULL. `options` may be NULL. Nothing is written
 * unless all of it is right. */
heddle_status heddle_attention_run(const heddle_attention* attention, const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                   const DLTensor* o, const DLTensor* lse, const heddle_launch_options* options);

#ifdef __cplusplus
}
#endif
