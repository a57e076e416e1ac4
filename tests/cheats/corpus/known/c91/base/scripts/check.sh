#!/bin/sh
set -e
python -m compileall -q shop
python -m pytest -q
