#!/bin/sh
# A stand-in for `node:20-bookworm-slim` where no registry of images is reached: base.sh FOLDER
# The packages that a small Debian has, as they are installed here, with this machine's Node and npm, and the user `node`.
set -eu
root=$1
minimal=$(dpkg-query --show --showformat '${Priority} ${Essential} ${Package}\n' |
  awk '$1 == "required" || $2 == "yes" { print $3 } END { print "apt" }')
only='--no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances'
needed=$(apt-cache depends --recurse --installed $only $minimal | grep -v '^[ <]' | sort -u)
packages=$(dpkg-query --show --showformat '${db:Status-Abbrev}${binary:Package}\n' $needed 2>/dev/null | sed -n 's/^ii //p')

mkdir -p "$root/usr/local/bin" "$root/usr/local/etc" "$root/usr/local/lib/node_modules" "$root/var/lib/dpkg/info" "$root/npm-cache"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
dpkg --listfiles $packages | grep -vE '^/(\.|usr/share/(doc|man|locale)/.*)$' |
  sed -E 's,^/(bin|sbin|lib|lib64)(/|$),/usr/\1\2,' | sort -u > "$root.names"
# Files that the machine's owner has left out (translations, manuals) are in no small image either.
tar --create --no-recursion --ignore-failed-read --files-from="$root.names" 2>/dev/null | tar --extract --directory "$root"
for name in $packages; do cp -a /var/lib/dpkg/info/"$name".* "$root/var/lib/dpkg/info/"; done
cp -a /var/lib/dpkg/info/format "$root/var/lib/dpkg/info/"
dpkg-query --status $packages > "$root/var/lib/dpkg/status"
# What their installation makes.
ln -sf mawk "$root/usr/bin/awk"
cp /usr/share/base-passwd/passwd.master "$root/etc/passwd"
cp /usr/share/base-passwd/group.master "$root/etc/group"
for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
  if [ -e "$sources" ]; then cp "$sources" "$root$sources"; fi
done

user=node
echo "$user:x:1000:1000::/home/$user:/bin/sh" >> "$root/etc/passwd"
echo "$user:x:1000:" >> "$root/etc/group"
install -d -o 1000 -g 1000 "$root/home/$user"
cp "$(node -p process.execPath)" "$root/usr/local/bin/node"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
# What was downloaded for this machine is mounted there.
printf 'cache=/npm-cache\nprefer-offline=true\n' > "$root/usr/local/etc/npmrc"
