#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures the library, built for release, against what is below it: prints a table and writes one flat JSON object. For
# a key K it has K (median of the ratios), K_ns and K_base_ns (medians, ns per unit, of ours and of the base), K_n
# (alternated runs) and K_spread ((max - min) / median of the ratios); what each K compares stands in the figure's file. A
# key that ends in a unit of time is a time itself. What can't be measured here is null, and the table says why.
set -eu
called_from=$PWD
cd "$(dirname "$0")/../.."
. tests/lib/packages.sh

usage () {
  cat <<TEXT
usage: tests/bench/run.sh [--quick] [--json FILE] [--only FIGURE]
  --quick  7 short runs of each kind instead of 11 longer ones
  --json   where the results go
  --only   just this figure: line pool cold public ring core wake unit syscalls create small stream field
          portable
TEXT
}

quick=
json=
only=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=--quick ;;
    --json) shift; json=${1:?--json needs a file} ;;
    --only) shift; only=${1:?--only needs a figure} ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

case $json in
  '' | /*) ;;
  *) json=$called_from/$json ;;
esac

need_packages gcc g++ meson ninja-build pkg-config libglib2.0-dev strace
need_packages gobject-introspection libgirepository1.0-dev gjs python3-gi python3-numpy ||
  echo 'no figures of Python or GJS without these' >&2

dir=build-bench
mkdir -p "$dir"
log=$dir/build.log
again=
[ ! -f "$dir/build.ninja" ] || again=--reconfigure
# shellcheck disable=SC2086 # empty or one word
meson setup $again -Dbuildtype=release -Dintrospection=auto -Dvapi=disabled "$dir" >"$log" 2>&1 ||
  { tail -n 60 "$log" >&2; exit 1; }
ninja -C "$dir" bench >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }

# shellcheck disable=SC2086 # nothing or one word
exec "$dir/tests/bench/arena-bench" $quick ${json:+--json "$json"} ${only:+--only "$only"}
