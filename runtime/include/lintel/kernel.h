/* The contract between the compiler and the runtime: what a compiled operator looks like in memory.
 *
 * One compiled operator (one .attn operator at one set of dimensions and types) is one constant `lintel_kernel`.
 * It describes its arrays and holds one or more variants (form x chunk x instruction set). A variant's `run` does ONE
 * item: one head of one sequence, over all steps of that sequence. The runtime (or any caller) computes the item's base
 * pointers from the user's strides, and may run items in any order and on any thread: a variant keeps no hidden state,
 * allocates nothing, and writes only to the item's outputs, state_out and scratch. Standalone C99; versioned; no MLIR,
 * LLVM or Halide.
 *
 * Layout: all strides count ELEMENTS (not bytes); the innermost stride of every array is 1.
 *   token input  [B, T, G, n...]   G divides H; head h reads group h / (H / G)
 *   head input   [H, n...]         shared input [n...]
 *   state        [B, H, n...]      contiguous in n..., row-major; the row of S[dk, dv] is the feature axis dk
 *   exponent     [B, H] or [B, H, n], always f64; n is the first axis of the states that it belongs to
 *   outputs      [B, T, H, n] or [B, T, H], each
 * Units: states are the mathematical states of the spec (not log-space, not scaled). One whose numbers may lie outside
 * of any float is computed as S * 2^p, with p, an exponent, for each head or for each row of S: a caller who gives and
 * takes p beside S keeps such states exactly, and one who does not gets the product. Ownership: everything belongs to
 * the caller.
 * Errors: a variant cannot fail once its arguments are checked. */
#ifndef LINTEL_KERNEL_H
#define LINTEL_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define LINTEL_ABI_VERSION 5u

typedef enum lintel_dtype { LINTEL_F64 = 0, LINTEL_F32 = 1, LINTEL_F16 = 2, LINTEL_BF16 = 3 } lintel_dtype;
typedef enum lintel_kind {
  LINTEL_TOKEN = 0,
  LINTEL_HEAD = 1,
  LINTEL_SHARED = 2,
  LINTEL_STATE = 3,
  LINTEL_OUT = 4,
  LINTEL_EXPONENT = 5
} lintel_kind;

/* One array of the operator, without its batch, time and head axes. */
typedef struct lintel_parameter {
  const char *name; /* as in the spec; "out" for the first output */
  int32_t kind;     /* lintel_kind */
  int32_t dtype;    /* lintel_dtype of the array in memory; states: f64 where an input or out is, else f32 */
  int32_t rank;     /* 0, 1 or 2: how many of dim[] count */
  int32_t exponent; /* of a state: 1 + the position in lintel_kernel.exponents of the one it is held with; 0: none */
  int64_t dim[2];   /* sizes of the inner axes */
  int32_t columns;  /* 1 + the inner axis that a variant's parts divide among them; 0: each part has all of it */
} lintel_parameter;

/* One head of one sequence. Pointer arrays are in the order of lintel_kernel.inputs / .states / .out. */
typedef struct lintel_item {
  int64_t steps;    /* T of this sequence, 0 or more */
  int64_t position; /* position of its first step (when a sequence continues) */
  const void *const
      *input; /* element [b, 0, g, 0...] of a token input, [h, 0...] of a head input, [0...] of a shared one */
  const int64_t *input_step;   /* elements from one step to the next; 0 for head and shared inputs */
  const int64_t *input_row;    /* elements from one row to the next of a rank-2 input; else unused */
  const void *const *state_in; /* [n...] of this head; a NULL entry means zeros */
  void *const *state_out;      /* [n...] of this head; a NULL entry means not wanted; may equal state_in's */
  void *const *out;            /* element [b, 0, h, 0] of each output */
  const int64_t *out_step;     /* elements from one step to the next of each */
  void *scratch;               /* the variant's scratch_bytes, aligned to 64; contents are anything before and after */
  /* In the order of lintel_kernel.exponents; NULL, or a NULL entry: not given, and not wanted.
   * One p, or [n], one for each row of the states that it belongs to: lintel_parameter.rank says which.
   * In: these states are state_in * 2^p; not given: p is 0. Not looked at where the states are zeros
   * by a NULL. Out: they are state_out * 2^p; not wanted: state_out is the product. A p is a whole number. */
  const double *const *exponent_in;
  double *const *exponent_out; /* an entry may equal exponent_in's */
} lintel_item;

/* The p of states that hold nothing yet: beside zeros it says that they were never added to, so that the first numbers
 * set the exponent, however small they are (a p of 0 is right too, and loses numbers below the range of floats). */
#define LINTEL_EXPONENT_NONE (-1e30)

typedef void (*lintel_item_function)(const lintel_item *item);

/* What a variant needs from the processor: bits for lintel_variant.features. A variant runs where all its bits are
 * present. The list is complete: a compiler turns on no extension that no bit here covers, so that code carried to
 * another machine is refused there with a reason and never dies of an illegal instruction. */
#define LINTEL_CPU_X86_64_V2 (UINT64_C(1) << 0)
#define LINTEL_CPU_X86_64_V3 (UINT64_C(1) << 1)  /* AVX2, FMA, F16C, BMI */
#define LINTEL_CPU_X86_64_V4 (UINT64_C(1) << 2)  /* AVX-512 F, BW, CD, DQ, VL */
#define LINTEL_CPU_AVX512_ICL (UINT64_C(1) << 3) /* AVX-512 IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
#define LINTEL_CPU_AVX512_BF16 (UINT64_C(1) << 4)
#define LINTEL_CPU_AVX512_FP16 (UINT64_C(1) << 5)
#define LINTEL_CPU_AARCH64 (UINT64_C(1) << 8) /* NEON */
#define LINTEL_CPU_X86_64 (UINT64_C(1) << 9)  /* SSE2: every x86-64; the levels above do not repeat it */
/* Tuned for the processor that `cpu` names. It demands nothing by itself (every machine has it): a native variant sets
 * it together with the bits of everything its code uses, at least one; alone it is refused. */
#define LINTEL_CPU_NATIVE (UINT64_C(1) << 63)

typedef struct lintel_variant {
  const char *form;   /* "recurrent", "chunkwise", "parallel" */
  const char *target; /* "x86-64-v3", "native", ... */
  const char *cpu;    /* LLVM's name of the processor it was tuned for, "" if any */
  uint64_t features;
  int64_t chunk;          /* steps a pass of the form takes at a time; 1 for recurrent */
  uint64_t scratch_bytes; /* for each thread */
  lintel_item_function run;
  /* An item in parts, for calls with fewer items than threads: run_part does elements [i n, (i + 1) n) of the axes that
   * lintel_parameter.columns names, where n is the axis's size over `parts`, on an item whose pointers stand at the
   * first of them and whose states hold these alone, contiguous. What has no such axis every part computes, and gets,
   * in full. Together the parts give the bits that `run` gives. */
  int64_t parts; /* 2 or more; 0: none */
  uint64_t part_scratch_bytes;
  lintel_item_function run_part;
  int64_t part_cost; /* of one part, in thousandths of the whole's, as the compiler estimates it */
} lintel_variant;

typedef struct lintel_kernel {
  uint32_t abi_version;  /* LINTEL_ABI_VERSION */
  uint32_t struct_bytes; /* sizeof(lintel_kernel) */
  const char *name;      /* operator's name in the spec */
  const char *spec_hash; /* of the canonical spec, dimensions and types; hexadecimal */
  int32_t dtype;         /* lintel_dtype of inputs and out, but for those whose parameter says another */
  int32_t causal;        /* 0: an output depends on later steps too, so a sequence cannot be split */
  uint32_t num_inputs, num_states, num_variants;
  uint32_t
      attends; /* 1: an output reads the inputs of other steps again (weights that do not factor, such as softmax's),
                  so that no state of constant size could stand for them and a sequence cannot be split */
  uint32_t num_outputs;   /* 1 or more; the first is "out" */
  uint32_t num_exponents; /* 0 for most operators */
  const lintel_parameter *inputs;
  const lintel_parameter *states;
  const lintel_parameter *out;       /* the outputs */
  const lintel_variant *variants;    /* best first; the runtime takes the first that this processor can run */
  const lintel_parameter *exponents; /* which states each belongs to: lintel_parameter.exponent */
} lintel_kernel;

#ifdef __cplusplus
}
#endif
#endif
