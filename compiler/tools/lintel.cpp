// The command `lintel`; each subcommand has a file of its own.
#include "compiler/tools/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

static int report(Error error) {
  handleAllErrors(
      std::move(error), [](const DiagnosticError &e) { e.log(errs()); },
      [](const ErrorInfoBase &e) { errs() << "lintel: error: " << e.message() << "\n"; });
  return BadInput;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  std::vector<std::unique_ptr<Subcommand>> commands;
  commands.push_back(makeRun());
  commands.push_back(makeCompile());
  commands.push_back(makeCheck());
  commands.push_back(makeExplain());
  commands.push_back(makeBench());
  commands.push_back(makeMeasure());
  commands.push_back(makeSpace());
  commands.push_back(makeTune());
  cl::SetVersionPrinter([](raw_ostream &os) { os << "lintel " LINTEL_VERSION "\n"; });
  // LLVM's own options are not ours to offer.
  cl::OptionCategory none("lintel");
  cl::HideUnrelatedOptions(none);
  std::string examples =
      "EXAMPLE:\n  lintel run retnet.attn --in q=q.npy --in k=k.npy --in v=v.npy --in gamma=gamma.npy "
      "--out out.npy\n";
  for (auto &command : commands) {
    cl::HideUnrelatedOptions(command->category, command->sub);
    if (argc > 1 && command->sub.getName() == argv[1]) examples = ("\nEXAMPLE:\n" + command->example()).str();
  }
  cl::extrahelp help(examples);
  if (argc > 1 && argv[1][0] != '-') {
    auto command = llvm::find_if(commands, [&](const auto &c) { return c->sub.getName() == argv[1]; });
    if (command == commands.end()) {
      SmallVector<StringRef> names;
      for (auto &c : commands) names.push_back(c->sub.getName());
      return report(createStringError(unknownName("a subcommand (" + llvm::join(names, ", ") + ")", argv[1], names)));
    }
    if (Error e = checkArguments(**command, ArrayRef(argv, argc).drop_front(2))) return report(std::move(e));
  }
  constexpr const char *about =
      "Lintel compiles linear attention operators.\n\n"
      "run, compile and check keep what they compile in the folder that the environment variable LINTEL_CACHE names.\n";
  if (!cl::ParseCommandLineOptions(argc, argv, about, &errs())) return BadInput;
  for (auto &command : commands) {
    if (!command->sub) continue;
    auto status = command->run();
    return status ? *status : report(status.takeError());
  }
  errs() << "lintel: error: expected a subcommand, found none; see lintel --help\n";
  return BadInput;
}
