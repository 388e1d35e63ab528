"""Builds the package in this folder for who names the root of the repository: ``pip install .`` there."""

import os
import pathlib

os.chdir(pathlib.Path(__file__).parent)

from maturin import *  # noqa: E402, F403
