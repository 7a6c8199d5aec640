#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the examples and makes contact sheets of the pictures of a folder; in Python also statistics of their colours:
# examples/run.sh [c|vala|gjs|python|all] [FOLDER]; all is the default.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build-examples
languages='c vala gjs python'
. "$top/tests/lib/packages.sh"

case ${1:-} in
  c | vala | gjs | python) languages=$1; shift ;;
  all) shift ;;
esac
packages='gcc meson ninja-build pkg-config libglib2.0-dev libgdk-pixbuf-2.0-dev'
options=
for language in $languages; do
  case $language in
    c) continue ;;
    vala) packages="$packages valac"; options="$options -Dvapi=enabled" ;;
    gjs) packages="$packages gjs" ;;
    python) packages="$packages python3-gi python3-numpy python3-tqdm" ;;
  esac
  packages="$packages gobject-introspection libgirepository1.0-dev"
  options="$options -Dintrospection=enabled"
done
[ $# -gt 0 ] || packages="$packages mate-backgrounds"
# shellcheck disable=SC2086 # one word per package
need_packages $packages
folder=${1:-/usr/share/backgrounds/mate}

# An earlier call may have wanted fewer languages.
again=
[ ! -f "$build/build.ninja" ] || again=--reconfigure
mkdir -p "$build"
# shellcheck disable=SC2086 # empty or several words
meson setup $again --buildtype=release -Dexamples=true -Dtests=false $options "$build" "$top" >"$build/setup.log" ||
  { cat "$build/setup.log"; exit 1; }
ninja -C "$build" -j 2 --quiet

# What installing would settle.
export GI_TYPELIB_PATH="$build/gir" LD_LIBRARY_PATH="$build/arena"
export GJS_PATH="$top/bindings/gjs" PYTHONPATH="$top/bindings/python"

for language in $languages; do
  sheet=$build/contact-sheet-$language.png
  case $language in
    c) "$build/examples/photos" "$folder" "$sheet" ;;
    vala) "$build/examples/photos-vala" "$folder" "$sheet" ;;
    gjs) gjs -m "$top/examples/photos.js" "$folder" "$sheet" ;;
    python)
      # The first python3 on PATH may have no gi.
      python=/usr/bin/python3
      [ -x $python ] || python=python3
      export PYTHONDONTWRITEBYTECODE=1
      $python "$top/examples/photos.py" "$folder" "$sheet"
      $python "$top/examples/colours.py" "$folder"
      ;;
  esac
  echo "contact sheet: $sheet"
done
