"""What the installed package says of itself, and the notices that it carries."""

import importlib.metadata
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]
NOTICES = HERE / "THIRD-PARTY-NOTICES"


def test_the_package_says_what_and_whose_it_is():
    package = importlib.metadata.metadata("popef")
    assert package["Summary"].startswith("Reads, checks, changes and writes PopEF files")
    assert "# The Python module popef" in package.get_payload()
    assert package["Author"] == "The popef developers"
    assert package["License-Expression"] == "MIT OR Apache-2.0"
    classifiers = package.get_all("Classifier")
    assert {"Development Status :: 4 - Beta", "Programming Language :: Python :: 3.10", "Typing :: Typed"} <= set(classifiers)
    urls = dict(url.split(", ") for url in package.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog"} <= urls.keys()


def test_the_package_carries_the_notices_of_what_is_linked_into_it():
    files = {pathlib.PurePath(file).name: file for file in importlib.metadata.files("popef")}
    assert {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES"} <= files.keys()
    assert files["THIRD-PARTY-NOTICES"].locate().read_bytes() == NOTICES.read_bytes()
    text = NOTICES.read_text(encoding="utf-8")
    for words in ("\npyo3 0.", "\ncapnp 0.", "Copyright (c) 2023-present PyO3 Project and Contributors", "object_store"):
        assert words in text


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_notices_are_those_of_the_crates_that_are_linked_now():
    done = subprocess.run([sys.executable, HERE / "notices.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
