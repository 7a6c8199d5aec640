# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# need_packages NAME...: installs what is missing, on Debian and its relatives.

as_root () {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed () {
  dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

need_packages () {
  command -v dpkg-query >/dev/null || return 0
  missing=
  for package; do
    is_installed "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0

  echo "installing$missing"
  as_root apt-get -qq update
  # shellcheck disable=SC2086 # one word per package
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
}
