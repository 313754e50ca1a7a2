// Tokens to syntax, by recursive descent. Always yields a tree; after an error it goes on at the next statement.
//
//   file       = { "attention" name "{" { statement end } "}" }          end = line end | ";"
//   statement  = ("token" | "head" | "shared" | "state" | "output") declarator { "," declarator }
//              | "let" name "=" expr | name "=" expr
//              | ("feature" | "feature_q" | "feature_k") "(" name ")" "=" expr | "weights" "(" name "," name ")" "="
//              expr | "scale" expr | "decay" expr | "normalize" [expr] | "causal" | "bidirectional"
//   declarator = name [ "[" dim [ "," dim ] "]" ]                          dim = name | integer
//   expr       = or < and < not < comparison < sum < product (* / @ .) < unary minus < power < index, each left to
//   right
//                but for power; a comparison does not chain
//
// Keywords are such at the start of a statement alone, and but for those of inputs, states and "let" not before "=". A
// line's end inside parentheses, after a comma or after an operator does not end the statement.
#ifndef LINTEL_FRONTEND_PARSER_H
#define LINTEL_FRONTEND_PARSER_H

#include "compiler/frontend/Ast.h"

namespace lintel::frontend {

namespace limits {
constexpr unsigned nesting = 200;     // parentheses, arguments, signs and powers in each other
constexpr unsigned height = 1000;     // of an expression's tree, so also the terms of a sum
constexpr unsigned statements = 4000; // of an operator
constexpr unsigned operators = 1000;  // of a file
constexpr int64_t dimension = 1 << 30;
} // namespace limits

/// Fills `file.operators` from `file.source` and reports to `file.diagnostics`.
void parseInto(File &file);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_PARSER_H
