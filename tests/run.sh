#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds everything and runs the tests. The last line is "N passed, N failed, N skipped"; the status is 1 if any failed.
set -eu
cd "$(dirname "$0")/.."
. tests/lib/packages.sh

usage () {
  cat <<TEXT
usage: tests/run.sh [MODE] [--only SUITE]
  (none)       gcc: all suites, then the core suite with AddressSanitizer and UndefinedBehaviorSanitizer
  --sanitize   core, process, cuda and fuzz with both sanitizers
  --tsan       core, process and cuda with ThreadSanitizer
  --valgrind   core and cuda under valgrind
  --clang      all suites, built by clang
  --numpy2     the Python package over numpy 2, which pip installs into an environment of its own
  --spdl       SPDL, fetched from PyPI, with the arenas of the Python package; and SPDL's own tests, out of the checkout
               that ARENA_TEST_SPDL names or build-tests/spdl-source is
  --mutations  each patch of tests/mutations/ must make a test fail
  --only       just this suite: core process cuda proof fuzz api bindings python examples
TEXT
}

mode=default
only=
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize | --tsan | --valgrind | --clang | --mutations | --numpy2 | --spdl) mode=${1#--} ;;
    --only) shift; only=${1:?--only needs a suite} ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

jobs=2
builds=build-tests
all_suites='core process cuda proof api bindings python examples'
began_all=$(date +%s)
mkdir -p "$builds"
tally=$PWD/$builds/tally-$mode
: >"$tally"

# Whatever happens, the last line is the count; an end that nothing below foresaw is a failure.
finish () {
  status=$?
  [ "$status" -eq 0 ] || echo 0 1 0 >>"$tally"
  echo "total: $(($(date +%s) - began_all)) s"
  awk '{ p += $1; f += $2; s += $3 }
    END { if (p + f == 0) f = 1; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$tally" || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

packages='gcc g++ meson ninja-build pkg-config gobject-introspection libgirepository1.0-dev libglib2.0-dev
  libgdk-pixbuf-2.0-dev valac gjs gi-docgen mypy python3-dev python3-gi python3-numpy python3-tqdm spin strace mate-backgrounds'
case $mode in
  clang) packages="$packages clang" ;;
  mutations) packages="$packages git" ;;
  numpy2) packages="$packages python3-venv" ;;
  spdl) packages="$packages python3-venv ffmpeg" ;;
  valgrind) packages="$packages valgrind" ;;
esac
# shellcheck disable=SC2086 # one word per package
need_packages $packages
case "$mode ${only:-python}" in
  'default python' | 'clang python') want_packages python3-torch ;;
esac

# failed WHAT LOG: what can't be configured or built is one failed test.
failed () {
  echo "failed: $1"
  tail -n 60 "$2"
  echo 0 1 0 >>"$tally"
}

# build NAME OPTION...: configures build-tests/NAME, for the first time or again, and compiles it.
build () {
  dir=$builds/$1
  log=$builds/$1.log
  shift
  again=
  [ ! -f "$dir/build.ninja" ] || again=--reconfigure
  began=$(date +%s)
  # shellcheck disable=SC2086 # empty or one word
  if ! meson setup $again --fatal-meson-warnings -Dwerror=true "$@" "$dir" >"$log" 2>&1; then
    failed "meson setup $dir" "$log"
    return 1
  fi
  if ! ninja -C "$dir" -j "$jobs" >"$log" 2>&1; then
    failed "ninja -C $dir" "$log"
    return 1
  fi
  echo "$(basename "$dir"): built in $(($(date +%s) - began)) s"
}

# wanted SUITES: those that --only leaves. Fuzz is a part of proof.
wanted () {
  case " $1 " in
    *" ${only:-$1} "*) suites=${only:-$1} ;;
    *" proof "*) [ "$only" = fuzz ] && suites=fuzz ;;
    *) return 1 ;;
  esac
}

# full NAME: everything, and a missing interpreter or tool is an error.
full () {
  wanted "$all_suites" || return 0
  build "$1" -Ddocs=enabled -Dintrospection=enabled -Dvapi=enabled -Dpython-native=enabled -Dexamples=true || return 0
  # shellcheck disable=SC2086 # one word per suite
  python3 tests/lib/run-suites.py "$tally" "$builds/$1" $suites
}

# The distribution's torch, which is built for numpy 1, is hidden: it would be there but fail.
numpy2 () {
  wanted python || return 0
  environment=$PWD/$builds/numpy2-environment
  log=$builds/numpy2-environment.log
  /usr/bin/python3 -m venv --system-site-packages "$environment"
  if ! "$environment/bin/python" -m pip install 'numpy>=2' >"$log" 2>&1; then
    failed "pip install numpy" "$log"
    return 0
  fi
  purelib=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "import sys; sys.modules['torch'] = None" >"$purelib/without-torch.pth"
  build numpy2 -Dintrospection=enabled -Dpython="$environment/bin/python" -Dpython-native=enabled || return 0
  python3 tests/lib/run-suites.py "$tally" "$builds/numpy2" python
}

# with_spdl: SPDL in an environment of its own, which sees the distribution's packages too. What could not be fetched, and
# SPDL's own tests where there is no checkout, are skipped by the tests.
with_spdl () {
  wanted spdl || return 0
  if [ -n "${ARENA_TEST_SPDL:-}" ]; then
    ARENA_TEST_SPDL=$(realpath -e "$ARENA_TEST_SPDL")
    export ARENA_TEST_SPDL
  fi
  environment=$PWD/$builds/spdl-environment
  /usr/bin/python3 -m venv --system-site-packages "$environment"
  for package in spdl-core spdl-io; do
    "$environment/bin/pip" install -q --disable-pip-version-check "$package==0.8.*" || echo "$package could not be fetched"
  done
  build spdl -Dintrospection=enabled -Dpython="$environment/bin/python3" || return 0
  # shellcheck disable=SC2086 # one word per suite
  python3 tests/lib/run-suites.py "$tally" "$builds/spdl" $suites
}

# instrumented NAME SUITES OPTION...: C only, and no allocator of GLib's own that would hide a use after free.
instrumented () {
  name=$1
  wanted "$2" || return 0
  shift 2
  build "$name" -Dintrospection=disabled -Db_lundef=false "$@" || return 0
  # shellcheck disable=SC2086 # one word per suite, none or two words of set-up
  G_SLICE=always-malloc python3 tests/lib/run-suites.py $setup "$tally" "$builds/$name" $suites
}

# The slow unwinder sees through GLib, which has no frame pointers.
export ASAN_OPTIONS=detect_stack_use_after_return=1:fast_unwind_on_malloc=0
export LSAN_OPTIONS=print_suppressions=0:suppressions="$PWD"/tests/lib/lsan.supp
export TSAN_OPTIONS=halt_on_error=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
setup=

case $mode in
  default)
    full gcc
    instrumented sanitize core -Db_sanitize=address,undefined
    ;;
  clang)
    export CC=clang CXX=clang++
    full clang
    ;;
  sanitize) instrumented sanitize 'core process cuda fuzz' -Db_sanitize=address,undefined ;;
  tsan) instrumented tsan 'core process cuda' -Db_sanitize=thread ;;
  valgrind)
    setup='--setup valgrind'
    instrumented valgrind 'core cuda'
    ;;
  numpy2) numpy2 ;;
  spdl) with_spdl ;;
  mutations) python3 tests/lib/mutate.py "$tally" "$builds/mutations" tests/mutations/*.patch ;;
esac
