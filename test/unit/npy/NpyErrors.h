// What the tests of files that are refused share.
#ifndef LINTEL_TEST_UNIT_NPY_NPYERRORS_H
#define LINTEL_TEST_UNIT_NPY_NPYERRORS_H

#include "llvm/Support/Error.h"
#include <gtest/gtest.h>

/// The message of a failure, else nothing.
template <typename T> std::string errorOf(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

/// Each of the texts stands in the message.
#define EXPECT_ERROR(expression, ...)                                                                                  \
  do {                                                                                                                 \
    const std::string message = errorOf(expression);                                                                   \
    for (const char *part : {__VA_ARGS__})                                                                             \
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;                           \
  } while (false)

#endif
