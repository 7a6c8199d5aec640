#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the examples and makes a contact sheet of the pictures of a folder: examples/run.sh [FOLDER]
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build-examples
sheet=$build/contact-sheet.png
. "$top/tests/lib/packages.sh"

need_packages gcc meson ninja-build pkg-config libglib2.0-dev libgdk-pixbuf-2.0-dev
if [ $# -gt 0 ]; then
  folder=$1
else
  need_packages mate-backgrounds
  folder=/usr/share/backgrounds/mate
fi

if [ ! -f "$build/build.ninja" ]; then
  mkdir -p "$build"
  meson setup --buildtype=release -Dexamples=true -Dtests=false -Dintrospection=disabled "$build" "$top" \
    >"$build/setup.log" || { cat "$build/setup.log"; exit 1; }
fi
ninja -C "$build" -j 2 --quiet

"$build/examples/photos" "$folder" "$sheet"
echo "contact sheet: $sheet"
