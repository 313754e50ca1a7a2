// All operations, for tablegen and the generated documentation.
#ifndef LINTEL_DIALECT_ATTNOPS_TD
#define LINTEL_DIALECT_ATTNOPS_TD
include "dialect/AttnKernelOps.td"
#endif
