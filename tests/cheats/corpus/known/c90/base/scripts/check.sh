#!/bin/sh
set -e
if [ -f .env ]; then
    . ./.env
fi
python -m pytest -q
