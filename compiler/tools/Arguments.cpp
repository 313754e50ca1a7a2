// Checks a command line before LLVM's parser reads it.
#include "compiler/tools/Tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

bool Integer::parse(cl::Option &, StringRef name, StringRef text, long long &value) {
  if (!text.getAsInteger(10, value) && value >= low && value <= high) return false;
  errs() << "lintel: error: expected " << expected << " for --" << name << ", found '" << text << "'\n";
  return true;
}

/// "--dim NAME=N", "-o PATH"
static std::string shown(const cl::Option &option) {
  std::string text = (option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr.str();
  return option.ValueStr.empty() ? text : text + " " + option.ValueStr.str();
}

Error tools::checkArguments(const Subcommand &command, ArrayRef<const char *> arguments) {
  // LLVM's parser puts the words of the file in the place of @FILE: what follows cannot be known here.
  if (any_of(arguments, [](const char *text) { return text[0] == '@'; })) return Error::success();
  SmallVector<StringRef> positional;
  SmallPtrSet<const cl::Option *, 8> seen;
  bool onlyPositional = false, asksForHelp = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef text = arguments[i];
    if (onlyPositional || !text.starts_with("-") || text == "-") {
      positional.push_back(text);
      continue;
    }
    if (text == "--") {
      onlyPositional = true;
      continue;
    }
    auto [name, value] = text.ltrim('-').split('=');
    bool hasValue = text.contains('=');
    auto it = command.sub.OptionsMap.find(name);
    if (it == command.sub.OptionsMap.end()) {
      SmallVector<StringRef> known;
      for (const auto &[key, option] : command.sub.OptionsMap)
        if (is_contained(option->Categories, &command.category)) known.push_back(key);
      llvm::sort(known);
      return createStringError(
          unknownName("an option of 'lintel " + command.sub.getName() + "' (" + join(known, ", ") + ")", name, known));
    }
    const cl::Option &option = *it->second;
    asksForHelp |= name.starts_with("help") || name == "version";
    if (option.getNumOccurrencesFlag() == cl::Optional && !seen.insert(&option).second)
      return createStringError("expected '%s' once, found it twice", shown(option).c_str());
    if (option.getValueExpectedFlag() == cl::ValueRequired && !hasValue) {
      if (++i == arguments.size())
        return createStringError("expected a value for '%s', found none", shown(option).c_str());
    } else if (hasValue && option.getValueExpectedFlag() == cl::ValueOptional) { // LLVM's words for a bool
      if (!StringSwitch<bool>(value)
               .Cases({"", "true", "TRUE", "True", "1", "false", "FALSE", "False", "0"}, true)
               .Default(false))
        return createStringError("expected true or false for '%s', found '%s'", shown(option).c_str(),
                                 value.str().c_str());
    }
  }
  if (positional.size() == 1 || asksForHelp) return Error::success();
  if (positional.empty())
    return createStringError("expected a SPEC (a .attn file), found none; see lintel %s --help",
                             command.sub.getName().str().c_str());
  return createStringError("expected one SPEC, found '%s' and '%s'", positional[0].str().c_str(),
                           positional[1].str().c_str());
}
