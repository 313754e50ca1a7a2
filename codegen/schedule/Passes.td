// The pass that decides schedules.
#ifndef LINTEL_CODEGEN_SCHEDULE_PASSES_TD
#define LINTEL_CODEGEN_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignSchedule : Pass<"attn-assign-schedule", "::mlir::ModuleOp"> {
  let summary = "give each stage its schedule";
  let description = [{
    Before: `attn.kernel` whose stages are in groups. After: every stage, and every `attn.rows`, has a `schedule`, from the file where that names the stage, else by the heuristic for
    the processor that the options describe. What is below only obeys it. A schedule that a stage has already is kept. Illegal: an error with the reason.
  }];
  let options = [Option<"vectorBits", "vector-bits", "unsigned", "256", "width of a vector register">,
                 Option<"registers", "registers", "unsigned", "16", "how many vector registers there are">,
                 Option<"elementBits", "element-bits", "unsigned", "32", "width of what is computed in">,
                 Option<"file", "file", "std::string", "\"\"", "a .sched file">];
  let dependentDialects = ["::lintel::AttnDialect"];
}

#endif
