#!/usr/bin/env bash
# npm.sh SOURCE_DIR vendor|types|axe-path|speedscope-path
# vendor: the vendored files are those of the npm package that the lock names, and those that SHA512SUMS has; neither the lock nor the page names a host
# to fetch from. types: what the modules' comments say of types is true. axe-path, speedscope-path: print where axe.min.js and speedscope's page are.
# What is fetched once stays in the user's cache. Without npm or network: exit 77, saying so; the sums are compared all the same.
set -euo pipefail
source_dir=$1
vendor=$source_dir/profiler/page/vendor
lock=$source_dir/tests/page/npm/package-lock.json
cache=${XDG_CACHE_HOME:-$HOME/.cache}/probeprof/page-$(sha256sum <"$lock" | cut -c1-16)

if [ "$2" = vendor ]; then
    (cd "$vendor" && sha512sum --quiet --strict -c SHA512SUMS)
    listed=$(cut -d' ' -f3 "$vendor/SHA512SUMS")
    for f in "$vendor"/*; do
        f=${f##*/}
        [ "$f" = SHA512SUMS ] || grep -qx "$f" <<<"$listed" || { echo "$f is not in SHA512SUMS"; exit 1; }
    done
    if grep -nE '"resolved"|https?://' "$lock"; then
        echo "the lock names a host: npm install --package-lock-only --omit-lockfile-registry-resolved"
        exit 1
    fi
    # what a browser would fetch: addresses in comments of vendored files are none of it
    if grep -nE "(from |import\(|src=|href=|fetch\()['\"]https?://|url\(['\"]?https?://" "$source_dir"/profiler/page/*.{js,css,html,svg} "$vendor"/*.{js,css}; then
        echo "the page fetches from another host"
        exit 1
    fi
    echo "sums and addresses are right"
fi

if [ ! -e "$cache/node_modules/axe-core/axe.min.js" ]; then
    command -v npm >/dev/null || { echo "skipped: no npm, and nothing fetched before"; exit 77; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp "$lock" "${lock%-lock.json}.json" "$work"
    (cd "$work" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || { tail -n 3 "$work/npm.log"; echo "skipped: npm fetched nothing"; exit 77; }
    mkdir -p "$cache"
    cp -r "$work/node_modules" "$cache"
fi
case $2 in
vendor)
    cmp "$vendor/uPlot.esm.js" "$cache/node_modules/uplot/dist/uPlot.esm.js"
    cmp "$vendor/uPlot.css" "$cache/node_modules/uplot/dist/uPlot.min.css"
    cmp "$vendor/LICENSE" "$cache/node_modules/uplot/LICENSE"
    echo "the vendored files are those of the package" ;;
types)
    # vendored files are not ours to annotate
    found=$("$cache/node_modules/.bin/tsc" -p "$source_dir/tests/page/npm/tsconfig.json" --pretty false | grep -E 'profiler/page/[^/]*\.js\(' || true)
    [ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
    echo "types are right" ;;
axe-path) echo "$cache/node_modules/axe-core/axe.min.js" ;;
speedscope-path) echo "$cache/node_modules/speedscope/dist/release/index.html" ;;
esac
