#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures the Python package, over the library built for release, against what else brings batches from a process to
# another: SPDL, multiprocessing's Queue, shared memory by hand, and torch's Queue. Prints tables, writes one JSON object.
#
# For a key K it has K (median of the ratios of runs made in turn), K_n (how many), K_spread ((max - min) / median),
# K_skipped (pairs that another program disturbed), K_ours and K_base (medians); or null for K and K_reason, and in
# K_disturbed the ratio of disturbed pairs, if it has no others. "transport" has a run of everything for each kind of
# payload and size, with the half of the 95 % interval that its ten parts give. SPDL comes from PyPI, into an environment of its own.
set -eu
called_from=$PWD
cd "$(dirname "$0")/../../.."
. tests/lib/packages.sh

usage () {
  cat <<TEXT
usage: tests/bench/python/run.sh [--quick] [--json FILE] [--csv FILE] [--plot FILE.png] [--only FIGURE]
  --quick  3 pairs of short runs instead of 7 longer ones, and fewer sizes
  --json   where the results go
  --csv    "transport" as a table, with the 95 % interval of each rate
  --plot   a picture of it
  --only   just this figure: pool ring inplace transport
TEXT
}

# absolute FILE
absolute () {
  case $1 in
    /*) echo "$1" ;;
    *) echo "$called_from/$1" ;;
  esac
}

quick=
json=
csv=
plot=
only=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=--quick ;;
    --json) shift; json=$(absolute "${1:?--json needs a file}") ;;
    --csv) shift; csv=$(absolute "${1:?--csv needs a file}") ;;
    --plot) shift; plot=$(absolute "${1:?--plot needs a file}") ;;
    --only) shift; only=${1:?--only needs a figure} ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

need_packages gcc g++ meson ninja-build pkg-config gobject-introspection libgirepository1.0-dev libglib2.0-dev \
  python3-dev python3-gi python3-numpy python3-venv
[ -z "$plot" ] || need_packages python3-matplotlib

dir=build-bench-python
mkdir -p "$dir"
log=$dir/build.log
if [ ! -f "$dir/build.ninja" ]; then
  meson setup -Dbuildtype=release -Dintrospection=enabled -Dpython=/usr/bin/python3 -Dpython-native=enabled \
    -Dtests=false -Dvapi=disabled "$dir" >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }
fi
ninja -C "$dir" >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }

python=$dir/spdl/bin/python
[ -x "$python" ] || /usr/bin/python3 -m venv --system-site-packages "$dir/spdl"
"$python" -c 'import spdl.pipeline' 2>/dev/null ||
  timeout 120 "$python" -m pip install --quiet spdl-core >"$dir/pip.log" 2>&1 ||
  echo "no SPDL: pip can't install it (see $dir/pip.log)" >&2

export GI_TYPELIB_PATH="$PWD/$dir/gir"
export LD_LIBRARY_PATH="$PWD/$dir/arena"
export PYTHONPATH="$PWD/bindings/python:$PWD/$dir/bindings/python"
export PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2086 # nothing or one word
exec "$python" tests/bench/python/main.py $quick ${json:+--json "$json"} ${csv:+--csv "$csv"} \
  ${plot:+--plot "$plot"} ${only:+--only "$only"}
