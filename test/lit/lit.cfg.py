# The one description of every lit suite (test/lit, test/error, test/regression, codegen/schedules).
import os
import platform
import shutil

import lit.formats

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".attn", ".mlir", ".test", ".sched"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py.in"]

# The build's own programs first, then LLVM's, so that a test never picks up another version.
config.environment["PATH"] = os.pathsep.join(
    [config.lintel_bin, config.llvm_bin, os.path.join(config.venv, "bin"), os.environ.get("PATH", "")]
)
for assignment in config.test_environment:
    name, _, value = assignment.partition("=")
    if name:
        config.environment[name] = value
for name in ("HOME", "CCACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# A misspelt variable in a check line would otherwise match anything.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"

config.substitutions += [
    ("%specs", os.path.join(config.lintel_source, "examples", "specs")),
    ("%source", config.lintel_source),
    ("%build", config.lintel_build),
    ("%python", os.path.join(config.venv, "bin", "python")),
    ("%cc", config.host_cc),
    ("%cxx", config.host_cxx),
]

# A tool that is not built yet skips its tests by `REQUIRES: tool-lintel-opt`; make test builds them all.
for tool in ("lintel", "lintel-opt", "lintel-lsp"):
    if os.access(os.path.join(config.lintel_bin, tool), os.X_OK):
        config.available_features.add("tool-" + tool)
if shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc"):
    config.available_features.add("cross-aarch64")
if shutil.which("qemu-x86_64"):
    config.available_features.add("emulated-x86_64")
config.available_features.add({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()))
if config.sanitize:
    config.available_features.add("sanitize")
elif config.build_type == "Release":
    config.available_features.add("release")
try:
    with open("/proc/cpuinfo") as info:
        flags = set(next((line for line in info if line.startswith("flags")), "").split())
    for flag in ("avx2", "avx512f", "fma"):
        if flag in flags:
            config.available_features.add(flag)
except OSError:
    pass
