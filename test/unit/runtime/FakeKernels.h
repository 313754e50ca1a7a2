/* Operators written by hand in C, so that the runtime is tested without a compiler.
 *
 * blend: inputs  token q[3], token k[3], token u, head g, shared w[2, 3];  states S[2, 3], z[3];  out[3]
 *     z = z + g * k;  S = S + w * k;  out = q * z + u * (S[0] + S[1]) + position
 * total: not causal; input token q[3]; out = sum of q over all steps.
 * bare:  no states; input token q[3]; out = 2 * q.
 * both: two outputs, "out" as bare and "sum" [B, T, H].
 * halved: state s[3] with an exponent p; input token q[3]; s = s / 2, out = 2 * q.
 * again: says that it reads earlier steps again; as bare.
 * parted: inputs token q[2], token v[4], shared w[3, 4], head a[4, 2]; states S[2, 4], R[4, 2], n[2] with an exponent
 * p; out[4], more[4]; in two parts of the axis of 4.
 *     n = n + q (p counts steps);  S = S + outer(q, v);  R = R + v * a
 *     out = q @ S + R @ n + w[0] + w[1] * w[2];  more = v + sum of n */
#ifndef LINTEL_TEST_FAKE_KERNELS_H
#define LINTEL_TEST_FAKE_KERNELS_H
#include "lintel/kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_FEATURE (UINT64_C(1) << 40) /* no processor has it */

/* Variants: "chunkwise" 16 for a processor of the future, "chunkwise" 4, "recurrent" 1. */
extern const lintel_kernel fake_blend;
extern const lintel_kernel fake_total;
extern const lintel_kernel fake_bare;
extern const lintel_kernel fake_again;
extern const lintel_kernel fake_both;
extern const lintel_kernel fake_halved;
extern const lintel_kernel fake_parted;

#ifdef __cplusplus
}
#endif
#endif
