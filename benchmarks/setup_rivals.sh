#!/usr/bin/env bash
# Puts the rivals of `make bench` into environments of their own below BUILD/benchmarks: PyTorch, pytorch-fast-transformers and ggml-py,
# from PyPI. What cannot be had is said and left out; what is there is left alone. Takes gigabytes (PyPI's PyTorch brings
# its CUDA libraries) and some minutes.
# usage: benchmarks/setup_rivals.sh [BUILD] [torch|ggml|fast_transformers]...
set -u
build=${1:-build}
shift || true
wanted=${*:-torch ggml fast_transformers}
folder=$build/benchmarks
python=${PYTHON:-python3}
mkdir -p "$folder"

make_environment() { # name, packages...
  local environment=$folder/$1
  shift
  [ -x "$environment/bin/python" ] || "$python" -m venv "$environment" || return 1
  "$environment/bin/python" -m pip install --disable-pip-version-check --no-input -q "$@" </dev/null
}
has() { "$folder/$1/bin/python" -c "import $2" 2>/dev/null; }
missing() { echo "setup_rivals: $1 is missing: $2; its rows stay empty" >&2; }

for rival in $wanted; do
  case $rival in
    torch)
      has torch-venv torch || make_environment torch-venv numpy torch || missing PyTorch "pip could not install it"
      ;;
    ggml)
      # Compiled from source for this processor; its own threads, not OpenMP's.
      has ggml-venv ggml || CC=${CC:-clang-22} CXX=${CXX:-clang++-22} CMAKE_ARGS="-DGGML_NATIVE=ON -DGGML_OPENMP=OFF" \
        make_environment ggml-venv numpy ggml-py || missing ggml "pip could not compile ggml-py"
      ;;
    fast_transformers)
      has torch-venv torch || { missing fast-transformers "it needs PyTorch"; continue; }
      # Its set-up imports PyTorch, so that it is built without isolation.
      has torch-venv fast_transformers.causal_product.causal_product_cpu || {
        make_environment torch-venv setuptools wheel &&
          CFLAGS="-O3 -march=native" make_environment torch-venv --no-build-isolation --no-deps pytorch-fast-transformers
      } || missing fast-transformers "its C++ does not compile with this PyTorch"
      ;;
    *)
      echo "setup_rivals: expected torch, ggml or fast_transformers, found '$rival'" >&2
      exit 2
      ;;
  esac
done
