"""What the times depend on."""

import os
import platform


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in file)}
        return "%s (family %s, model %s)" % (fields["model name"], fields["cpu family"], fields["model"])
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def describe(native_loop, settings):
    return {"processor": processor(), "threads": len(os.sched_getaffinity(0)), "system": platform.system() + " " + platform.release(),
            "peak_gflops": native_loop.peak_gflops(settings), "lanes": native_loop.library(settings).expert_lanes(),
            "load": "%.1f" % os.getloadavg()[0]}
