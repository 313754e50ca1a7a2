// What this machine's cores can do at most, measured.
#ifndef LINTEL_COMPILER_DRIVER_MACHINELIMIT_H
#define LINTEL_COMPILER_DRIVER_MACHINELIMIT_H

#include "lintel/kernel.h"
#include <string>

namespace lintel {

/// Flops a second of one core in fused multiply-adds on registers, widest vectors, a multiply-add counted as two; the
/// best of a few runs, about 60 ms in all. Half types are computed in f32.
double measurePeakFlops(lintel_dtype dtype);

/// Bytes a second that one core reads from memory, the best of three runs over 128 MiB.
double measureBandwidth();

/// The processor's name as the system gives it.
std::string machineName();

} // namespace lintel

#endif
