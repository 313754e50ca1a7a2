// What the compiler knows about an operator, for people and as data.
#ifndef LINTEL_COMPILER_DRIVER_EXPLANATION_H
#define LINTEL_COMPILER_DRIVER_EXPLANATION_H

#include "compiler/driver/Compilation.h"
#include "llvm/Support/JSON.h"

namespace lintel {

struct Explanation {
  struct Input {
    std::string name, kind, shape, use; // use: "log-decay", ... or ""
  };
  struct State {
    std::string name, shape, transition, reason;
  };
  struct Form {
    std::string name, whyNot; // empty: it exists
    int64_t chunk = 0;
    double flops = 0, bytes = 0, cost = 0; // a step and head
  };
  std::string name;
  Dimensions dimensions;
  std::vector<std::string> assumed; // dimensions that were not given
  int64_t steps = 0;
  bool bidirectional = false;
  std::vector<Input> inputs;
  std::vector<State> states;
  std::string stateless; // where there are none: what an output is made from
  std::vector<Form> forms;
  std::vector<std::string> numbers; // what is computed otherwise than it is written, and why
  std::string chosen, reason;
  // Of value columns, in f32 on this machine: how many, of which dimension, a part's share of the cost; or why not.
  int64_t parts = 0;
  std::string divided, notInParts;
  double partCost = 0;
  std::string tuned;                // instead, what a database has for f32 on this machine; empty: nothing
  std::optional<double> leastFlops; // a step and head: StepWork::flops
  int64_t stateNumbers = 0;         // a head
  std::vector<std::string> kept;    // inputs that a cache in place of states has to hold
  int64_t cacheNumbers = 0;         // of these, a head, after `steps`, as far back as a window goes
  std::optional<int64_t> crossover; // T from which it costs less than softmax; nothing: never, or no such thing
  std::vector<std::string> warnings;

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value json() const;
};

/// Dimensions that are not given are taken as 128.
llvm::Expected<Explanation> explainOperator(const SpecFile &file, const OperatorInfo &op, const Dimensions &given,
                                            int64_t steps);

} // namespace lintel

#endif
