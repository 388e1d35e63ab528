#!/usr/bin/env bash
# Makes docs/report.png, the picture in the README: bash docs/report.sh
#
# Needs Chromium: the one in the variable CHROMIUM, or `chromium` in the path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo run --quiet -p popef-toolbox -- report testdata/interop/executable.popef -o "$scratch/report.html"
"${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --window-size=1200,680 \
    --screenshot="$PWD/docs/report.png" "file://$scratch/report.html"
