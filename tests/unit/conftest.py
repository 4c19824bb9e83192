"""Lets tests import the field tools: these are scripts that stand beside each other, in no package."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "field"))
