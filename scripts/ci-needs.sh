#!/usr/bin/env bash
# What the tests need besides Node and git, from Debian's packages, where it is missing: bubblewrap, which shuts commands in, PgBouncer, behind
# which the PostgreSQL that comes with npm is tested too (only its program: no service is left running), tmux, on whose screen chats are read,
# podman, by which the image of deploy/ is built and composed, the shells in which commands are completed, and what Chromium, which comes with
# npm, needs of the system: a library, and the font in which diagrams are measured.
# Called before the tests. Changes nothing where everything is there; fails, and says so, where it cannot be had.
set -euo pipefail

declare -A packages=([bwrap]=bubblewrap [script]=bsdutils [setsid]=util-linux [pgbouncer]=pgbouncer [tmux]=tmux [zsh]=zsh [fish]=fish [podman]=podman [runc]=runc [iptables]=iptables)

missing=()
for program in "${!packages[@]}"; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || missing+=("${packages[$program]}")
done
[[ -x /usr/lib/podman/netavark ]] || missing+=(netavark aardvark-dns)
libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
has_library() { [[ $libraries == *$'\t'"$1 "* ]]; }
has_library libnss3.so || missing+=(libnss3)
has_library libexpat.so.1 || missing+=(libexpat1)
[[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf ]] || missing+=(fonts-dejavu-core)
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
[[ $(id -u) -eq 0 ]] || as_root=(sudo -n)
if ! command -v apt-get >/dev/null; then
  printf 'the tests need %s, and this system has no apt-get to install them with\n' "${missing[*]}" >&2
  exit 1
fi
printf 'installing %s\n' "${missing[*]}"
# Debian starts a service that comes with a package, unless this program says no.
if [[ ! -e /usr/sbin/policy-rc.d ]]; then
  trap '"${as_root[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee /usr/sbin/policy-rc.d >/dev/null
  "${as_root[@]}" chmod 755 /usr/sbin/policy-rc.d
fi
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
