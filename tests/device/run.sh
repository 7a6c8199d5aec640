#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks copies on a machine with a CUDA device, in less than four minutes. It needs a C compiler, Meson, GLib and a CUDA
# runtime library; ARENA_CUDART names one that isn't found by itself. The last line is "passed" or "failed".
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-device}

trap 'test $? -eq 0 && echo passed || echo failed' EXIT
if [ ! -f "$build/build.ninja" ]; then
  meson setup -Dintrospection=disabled -Dcuda=enabled "$build"
fi
ninja -C "$build" tests/device/device-check
timeout 200 "$build/tests/device/device-check" -m slow --verbose
