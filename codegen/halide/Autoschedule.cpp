#include "codegen/halide/Autoschedule.h"
#include "codegen/halide/HalideSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <mutex>
#include <set>

using namespace lintel;
namespace H = Halide;

/// Plugins lie beside the library. They register themselves, once a process.
static void loadPlugin(const std::string &name) {
  static std::mutex mutex;
  static std::set<std::string> loaded;
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded.insert(name).second) return;
  Dl_info library;
  llvm::SmallString<256> path;
  if (dladdr(reinterpret_cast<void *>(&H::load_plugin), &library)) path = library.dli_fname;
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "libautoschedule_" + name + ".so");
  if (!llvm::sys::fs::exists(path)) {
    loaded.erase(name);
    throw H::RuntimeError("Halide's auto-scheduler " + name + " is not installed: expected '" + path.str().str() + "'");
  }
  H::load_plugin(path.str().str());
}

/// What makes a schedule one of a single thread, and of elements that are computed once.
static void restrain(H::Internal::StageSchedule &schedule, bool inPlace) {
  for (H::Internal::Dim &dim : schedule.dims())
    if (dim.for_type == H::Internal::ForType::Parallel) dim.for_type = H::Internal::ForType::Serial;
  if (!inPlace) return;
  for (H::Internal::Split &split : schedule.splits())
    if (split.split_type == H::Internal::Split::SplitVar &&
        (split.tail == H::TailStrategy::Auto || split.tail == H::TailStrategy::ShiftInwards))
      split.tail = H::TailStrategy::GuardWithIf;
}

void lintel::autoschedule(const std::vector<AutoscheduledOutput> &outputs, const std::string &name,
                          const H::Target &target, std::string &text) {
  loadPlugin(name);
  std::vector<H::Func> funcs;
  for (const AutoscheduledOutput &output : outputs) {
    H::Func f = output.func;
    std::vector<H::Var> vars = f.args();
    for (size_t d = 0; d < vars.size(); ++d)
      f.set_estimate(vars[d], 0, d < output.sizes.size() ? static_cast<int>(output.sizes[d]) : 1);
    funcs.push_back(f);
  }
  bool mullapudi = name == "mullapudi2016";
  H::AutoschedulerParams params(mullapudi ? "Mullapudi2016" : "Adams2019", {{"parallelism", "1"}});
  // A second cache's share of one core; how much dearer memory is than arithmetic.
  if (mullapudi) params.extra["last_level_cache_size"] = "524288", params.extra["balance"] = "10";
  H::AutoSchedulerResults results;
  // It warns of what is no fault here, as of too few threads.
  std::string warnings = withoutWarnings([&] { results = H::Pipeline(funcs).apply_autoscheduler(target, params); });
  std::map<std::string, H::Internal::Function> all;
  for (const AutoscheduledOutput &output : outputs)
    for (const auto &[called, function] : H::Internal::find_transitive_calls(output.func.function()))
      all.emplace(called, function);
  for (auto &[called, function] : all) {
    bool inPlace = false;
    for (const AutoscheduledOutput &output : outputs) inPlace |= output.inPlace && output.func.name() == called;
    restrain(function.definition().schedule(), inPlace);
    for (size_t u = 0; u < function.updates().size(); ++u) restrain(function.update(u).schedule(), inPlace);
  }
  text += "  // " + params.name + "\n" + results.schedule_source;
}

void lintel::lowerAutoscheduled(llvm::function_ref<void()> body) {
  std::string warnings = withoutWarnings(body);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(warnings).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    // An update that it left as it is, and storage that earlier versions of Halide folded.
    bool harmless = line.contains("has not been scheduled") || line.contains("Not folding Func");
    if (line.starts_with("Warning") && !harmless) throw H::CompileError(warnings);
  }
}
