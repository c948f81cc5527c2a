#!/usr/bin/env bash
# The Debian package: cpack makes it, lintian has nothing to say of it, and it is installed, runs and is removed in a root of its own. Nothing of this
# machine is changed: what is mounted and unpacked is seen by this test only, and gone with it.
# usage: package.sh CMAKE RELEASE_BUILD_DIR      exit 77: what this needs is missing, or not allowed here (said)
set -euo pipefail
cmake=$1 build=$2
skip() { echo "skipped: $1"; exit 77; }
fail() { echo "package: $1" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
for tool in dpkg-deb dpkg dpkg-shlibdeps lintian unshare; do command -v $tool >/dev/null || skip "$tool is not installed"; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"

(cd "$build" && "${cmake%cmake}cpack" -G DEB -B "$tmp/made" >"$tmp/log" 2>&1) || { cat "$tmp/log"; fail "cpack failed"; }
deb=$(echo "$tmp"/made/*.deb)
[ -s "$deb" ] || fail "no package"
dpkg-deb -I "$deb"
dpkg-deb -f "$deb" Depends | grep 'libusb-1.0-0' >/dev/null || fail "it does not depend on libusb"
if dpkg-deb -f "$deb" Depends | grep sigrok >/dev/null; then fail "it depends on libsigrok"; fi

# What is overridden is explained in .ci/package/debian/lintian-overrides: the examples' ELFs and nothing else.
if grep -v '^#' "$(dirname "$0")/../../../.ci/package/debian/lintian-overrides" | grep -v 'examples/\*\.elf\]$'; then fail "overrides beside the examples'"; fi
# In a folder that others may read, as lintian's helpers run as somebody else.
(cd "$tmp" && lintian --allow-root --pedantic --fail-on error,warning,pedantic --no-cfg "$deb") >"$tmp/said" 2>&1 ||
    { cat "$tmp/said"; fail "lintian has something to say"; }
cat "$tmp/said"

# This machine's files under an overlay, in a mount namespace of our own: dpkg works on its real database, and what it writes is gone afterwards.
cat >"$tmp/inside" <<'END'
set -eu
root=$1 deb=$2
fail() { echo "package: $1" >&2; exit 1; }
mkdir "$root/space"
mount -t tmpfs none "$root/space" || exit 77
mkdir "$root/space/upper" "$root/space/work" "$root/space/all"
mount -t overlay none -o "lowerdir=/,upperdir=$root/space/upper,workdir=$root/space/work" "$root/space/all" || exit 77
all=$root/space/all
mount -t proc none "$all/proc" || mount --rbind /proc "$all/proc" || exit 77
mount --rbind /dev "$all/dev" || exit 77
mkdir -p "$all/mnt/package"
cp "$deb" "$all/mnt/package/p.deb"
chroot "$all" /bin/sh -eu <<'IN'
fail() { echo "package: $1" >&2; exit 1; }
rm -f /var/lib/dpkg/lock /var/lib/dpkg/lock-frontend
find /etc /usr /var /lib -xdev -name '*probeprof*' | sort >/mnt/before
dpkg --force-unsafe-io -i /mnt/package/p.deb || fail "dpkg -i failed"
[ "$(dpkg-query -W -f='${db:Status-Status}' probeprof)" = installed ] || fail "not installed"
dpkg -V probeprof || fail "what is installed is not what was packed"
setpriv --reuid 65534 --regid 65534 --clear-groups probeprof version || fail "it does not run"
cd /usr/share/doc/probeprof/examples/motor
setpriv --reuid 65534 --regid 65534 --clear-groups timeout 600 probeprof --for 20ms --gdb off | grep control_loop || fail "the example does not run"
[ -s /usr/lib/udev/rules.d/60-probeprof.rules ] && [ -s /usr/lib/systemd/user/probeprof@.service ] || fail "rules or unit are missing"
man -w probeprof || ! command -v man || fail "no manual"
bash --norc -c '. /usr/share/bash-completion/completions/probeprof; complete -p probeprof' || fail "no completion"
cd /
dpkg -r probeprof || fail "dpkg -r failed"
dpkg -P probeprof || true
find /etc /usr /var /lib -xdev -name '*probeprof*' | sort >/mnt/after
diff /mnt/before /mnt/after || fail "something is left"
IN
END
database=$(md5sum /var/lib/dpkg/status)
status=0
if [ "$(id -u)" = 0 ]; then
    unshare --mount --propagation private sh "$tmp/inside" "$tmp" "$deb" || status=$?
else
    unshare --user --map-root-user --mount --propagation private sh "$tmp/inside" "$tmp" "$deb" || status=$?
fi
[ "$database" = "$(md5sum /var/lib/dpkg/status)" ] || fail "this machine's list of packages has changed"
[ $status != 77 ] || skip "no overlay may be mounted here: the package was not installed"
[ $status = 0 ] || fail "see above"
