#!/usr/bin/env bash
# Builds the program as it is released, without tests. usage: build_release.sh CMAKE SOURCE BUILD_DIR [CMAKE_OPTION...]
set -euo pipefail
cmake=$1 source=$2 build=$3
shift 3
"$cmake" -S "$source" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_TESTING=OFF -D CMAKE_INSTALL_PREFIX=/usr "$@"
exec "$cmake" --build "$build" --parallel 2
