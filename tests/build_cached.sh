# Sourced by scripts that build a tool from Debian's sources, once, into the user's cache: ${XDG_CACHE_HOME:-~/.cache}/probeprof.
# shellcheck shell=bash
missing() { echo "skipped: $1" >&2; exit 77; }

need_tools() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing "no $tool"
  done
}

# source_of PACKAGE PATTERN - prints the first file that is there: of the installed PACKAGE, else of one that is fetched into $cache and unpacked there.
source_of() {
  local folder file
  for folder in "" "$cache/source"; do
    [ -z "$folder" ] || fetch_source "$1" >&2
    for file in "$folder"$2; do
      [ ! -f "$file" ] || { echo "$file"; return 0; }
    done
  done
  return 1
}
fetch_source() {
  local deb
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
  mkdir -p "$cache/deb" "$cache/source"
  (cd "$cache/deb" && apt-get -o APT::Sandbox::User=root download "$1") || return 1
  for deb in "$cache"/deb/"$1"_*.deb; do dpkg-deb -x "$deb" "$cache/source" || return 1; done
  rm -r "$cache/deb"
}

# cache_of NAME RESULT - sets $cache; prints RESULT, a path in it, and ends if it is built already.
cache_of() {
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/probeprof/$1
  [ ! -e "$cache/complete" ] || { echo "$cache/$2"; exit 0; }
}

# build_cached FUNCTION RESULT - runs FUNCTION in a new empty folder; it installs into $cache. Prints the path of RESULT.
build_cached() {
  mkdir -p "$cache" || exit 1
  exec 9>"$cache/lock"
  flock 9 # two at once: the second finds it done
  if [ ! -e "$cache/complete" ]; then
    work=$(mktemp -d "$cache/build.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && "$1") >"$cache/build.log" 2>&1 </dev/null
    case $? in
    0) ;;
    77) tail -n 1 "$cache/build.log" >&2; exit 77 ;; # something is missing
    *) echo "the build failed, see $cache/build.log" >&2; exit 1 ;;
    esac
    rm -rf "$cache/source"
    touch "$cache/complete"
  fi
  echo "$cache/$2"
}

# What of GNU's sources these tools are built without: for configure.
gnu_without=(--disable-nls --disable-werror --disable-gprof --disable-gprofng --disable-sim --disable-plugins --without-zstd --disable-dependency-tracking
  MAKEINFO=true)
# make_and_install [TARGET INSTALL] - with as many jobs as there are processors. Not behind everybody else: beside the suite's other tests that
# takes until these have ended, and what needs the tool comes after it.
make_and_install() {
  make -j"$(nproc)" MAKEINFO=true ${1+"$1"} && make MAKEINFO=true "${2-install}"
}
