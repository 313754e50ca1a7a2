# `make` builds, `make test` tests, `make demo` shows the main job. Each first brings in what is missing (scripts/setup.sh).
BUILD := build
VENV := $(CURDIR)/build/venv
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 600

# The presets say what ccache may overlook (a precompiled header needs it); the cache stays small.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_MAXSIZE := 4G

.PHONY: all setup configure build test demo bench asan fuzz format docs clean
.NOTPARALLEL:

all: build

setup:
	@bash scripts/setup.sh $(VENV)

# CMake runs again by itself when its inputs change; the first time needs us.
configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release

build: configure
	@cmake --build $(BUILD) -j $(JOBS)

test: build
	@$(VENV)/bin/python scripts/run_tests.py --build $(BUILD) -j $(JOBS) $(if $(FILTER),-R '$(FILTER)')

demo: build
	@$(VENV)/bin/python examples/demo/demo.py --build $(BUILD)

# Beside other implementations (docs/performance.md). The rivals are installed once; BENCH holds options of benchmarks/bench.py.
bench: build
	@PYTHON=$(VENV)/bin/python bash benchmarks/setup_rivals.sh $(BUILD)
	@$(VENV)/bin/python benchmarks/bench.py --build $(BUILD) $(BENCH)

# Unit, lit and fuzz tests with AddressSanitizer and UndefinedBehaviorSanitizer over our own code.
asan: setup
	@test -f build-asan/build.ninja || cmake --preset asan
	@cmake --build build-asan -j $(JOBS)
	@$(VENV)/bin/python scripts/run_tests.py --build build-asan -j $(JOBS) -R '$(or $(FILTER),^(unit|lit|fuzz)\.)'

fuzz: setup
	@test -f build-fuzz/build.ninja || cmake --preset fuzz
	@cmake --build build-fuzz -j $(JOBS) --target fuzzers
	@bash scripts/run_fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGET)

format: setup
	@bash scripts/check_format.sh --fix

# The pages of docs/generated, from the tablegen files.
docs: configure
	@cmake --build $(BUILD) -j $(JOBS) --target docs
	@mkdir -p docs/generated && rm -f docs/generated/*.md && cp $(BUILD)/docs/generated/*.md docs/generated/

# Keeps the virtual environment, which only a change of cmake/requirements.txt makes stale.
clean:
	@find build -mindepth 1 -maxdepth 1 ! -name venv -exec rm -rf {} + 2>/dev/null || true
	@rm -rf build-dev build-asan build-fuzz
