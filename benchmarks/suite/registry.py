"""Who takes part. A rival outside of this project lives in an environment of its own below BUILD/benchmarks
(benchmarks/setup_rivals.sh makes them); one whose environment is not there is named as missing."""

import os

from .session import Rival


def registry(build):
    folder = os.path.join(build, "benchmarks")

    def environment(name):
        python = os.path.join(folder, name, "bin", "python")
        absent = None if os.access(python, os.X_OK) else "no environment '%s'; run benchmarks/setup_rivals.sh" % name
        return {"python": python, "absent": absent}

    intel = os.path.join(folder, "liblintel_bench_intel.so")
    rivals = [
        Rival("lintel", "Lintel", "lintel"),
        Rival("lintel_heads_first", "Lintel [B,H,T,d]", "lintel", settings={"heads_first": True}),
        Rival("expert", "hand-written", "expert"),
        Rival("expert_heads_first", "hand-written [B,H,T,d]", "expert", settings={"heads_first": True}),
        Rival("torch", "PyTorch", "torch_cpu", **environment("torch-venv")),
        Rival("torch_intel", "PyTorch, MKL told Intel", "torch_cpu", environment={"LD_PRELOAD": intel}, **environment("torch-venv")),
        Rival("ggml", "ggml", "ggml_cpu", **environment("ggml-venv")),
        Rival("fast_transformers", "fast-transformers", "fast_transformers_cpu", **environment("torch-venv")),
    ]
    if not os.path.exists(intel):
        rivals[5].absent = rivals[5].absent or "no library at %s; build the target lintel_bench_intel" % intel
    return {rival.name: rival for rival in rivals}
