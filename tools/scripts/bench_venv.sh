#!/usr/bin/env bash
# Makes .venv-bench with the engines of tools/bench/requirements.txt, again when that file changes.
set -euo pipefail
cd "$(dirname "$0")/../.."

wanted=tools/bench/requirements.txt
venv=.venv-bench
if cmp -s "$wanted" "$venv/requirements.installed"; then exit 0; fi
echo "convbert: installing the engines of $wanted into $venv (some GiB)"
[[ -x $venv/bin/python ]] || .venv/bin/python -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$venv/requirements.installed"
