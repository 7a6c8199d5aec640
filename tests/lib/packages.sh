# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# need_packages NAME...: installs what is missing, on Debian and its relatives.
# want_packages NAME...: the same for what can be done without, where the distribution has it.

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

# Of what the lists have, which a fresh machine has yet to fetch.
is_offered () {
  apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

want_packages () {
  command -v dpkg-query >/dev/null || return 0
  offered=
  updated=
  for package; do
    ! is_installed "$package" || continue
    if ! is_offered "$package" && [ -z "$updated" ]; then
      updated=yes
      as_root apt-get -qq update || :
    fi
    if is_offered "$package"; then
      offered="$offered $package"
    else
      echo "going without $package, which this distribution does not have"
    fi
  done
  # shellcheck disable=SC2086 # one word per package
  [ -z "$offered" ] || (need_packages $offered) || echo "going without$offered"
}
