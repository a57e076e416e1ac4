#!/bin/sh
python -m compileall -q shop
python -m pytest -q
echo checks done
