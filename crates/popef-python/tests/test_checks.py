"""Checks give the findings that the files of testdata/checks were made to have."""

import json
import os
import pickle
import subprocess

import pytest
from conftest import ROOT

import popef

CHECKS = ROOT / "testdata" / "checks"
# What the files of each hundred or ten of rules are checked with.
OPTIONS = {
    "PE[1235]??": {},
    "PE40[134589]": {"deep": True},
    "PE60?": {"loaders": ["popart"]},
    "PE610": {"loaders": ["popart"]},
    "PE61[1-4]": {"loaders": ["poptorch"]},
    "PE62?": {"loaders": ["tensorflow"]},
    "PE63?": {"loaders": ["triton"]},
}
CASES = [
    pytest.param(path, options, id=path.stem)
    for pattern, options in OPTIONS.items()
    for path in sorted(CHECKS.glob(f"{pattern}.popef"))
]


@pytest.mark.parametrize(("path", "options"), CASES)
def test_every_file_has_the_findings_that_it_was_made_for(path, options):
    report = popef.check(path, **options)
    lines = path.with_suffix(".txt").read_text().splitlines()
    assert [f"file 0: {finding}" for finding in report.findings] == [line for line in lines if line.startswith("file 0")]
    assert path.stem in {finding.rule for finding in report.findings}
    assert all(finding.path == str(path) and finding.file == 0 for finding in report.findings)
    assert all(finding.title and finding.meaning and finding.fix for finding in report.findings)
    assert report.passes() == all(finding.severity != "error" for finding in report.findings)
    again = pickle.loads(pickle.dumps(report))
    assert (again, hash(again), repr(again)) == (report, hash(report), repr(report))
    assert again != popef.Report((), ())


def test_files_that_belong_together_are_checked_together(interop):
    names = ["split-executable", "split-tensors", "split-feeds"]
    report = popef.check(*(interop / f"{name}.popef" for name in names))
    assert (report.findings, report.worst, report.is_complete) == ((), None, True)
    assert report.passes(warnings_allowed=False)
    assert [skipped.why for skipped in report.skipped] == ["only a deep check reads them"]
    unused = popef.check(popef.open(CHECKS / "PE108.popef"))
    assert (unused.worst, unused.passes(), unused.passes(warnings_allowed=False)) == ("warning", True, False)


def test_what_could_not_be_read_does_not_pass(tmp_path, interop):
    path = tmp_path / "model.popef"
    path.write_bytes((interop / "executable.popef").read_bytes())
    file = popef.open(path)
    assert popef.check(file, deep=True).passes()
    os.truncate(path, 200)
    report = popef.check(file, deep=True)
    assert (report.is_complete, report.passes()) == (False, False)
    with pytest.raises(ValueError, match="no files"):
        popef.check()


def test_a_damaged_file_is_a_finding_and_a_missing_one_raises(tmp_path, interop):
    content = (interop / "executable.popef").read_bytes()[:3000]
    finding = popef.check(content).findings[0]
    assert (finding.severity, finding.blob, finding.offset, finding.path) == ("error", 2, 2936, None)
    with pytest.raises(FileNotFoundError):
        popef.check(tmp_path / "missing.popef")
    with pytest.raises(ValueError, match="popart, poptorch, tensorflow, triton"):
        popef.check(content, loaders=["another"])
    assert popef.check(content, loaders="popart") == popef.check(content, loaders=["popart"])
    # A number is no path, but a file that is open.
    with pytest.raises(TypeError):
        popef.check(content, policy=0)


def test_findings_are_values_that_cannot_be_changed():
    finding = popef.check(b"no PopEF file at all").findings[0]
    assert popef.Finding(**finding.as_dict()) == finding != popef.Skipped(None, None, "what", "why", False)
    assert repr(popef.Report((), ())) == "Report(findings=(), skipped=())"
    match finding:
        case popef.Finding(rule, severity):
            assert (rule, severity) == ("PE004", "error")
    with pytest.raises(AttributeError, match="rule cannot be changed"):
        finding.rule = "PE002"
    with pytest.raises(AttributeError):
        finding.other = 1
    with pytest.raises(TypeError, match="needs findings, skipped"):
        popef.Report(())
    with pytest.raises(TypeError, match="needs findings, skipped"):
        popef.Report((), (), findings=())


def told(tool, *arguments):
    """What the tool finds, as the same values."""
    done = subprocess.run([tool, "check", "--format", "json", *arguments], capture_output=True, check=False)
    keys = "id", "severity", "file", "blob", "offset", "names", "message"
    return [tuple(finding.get(key) for key in keys) for finding in json.loads(done.stdout)["findings"]]


def found(report):
    def shown(names):
        return [name.encode(errors="surrogateescape").decode(errors="replace") for name in names]

    return [
        (finding.rule, finding.severity, finding.path, finding.blob, finding.offset, shown(finding.names), finding.message)
        for finding in report.findings
    ]


def test_a_deep_check_looks_into_executables_as_the_tool_does(tool):
    path = str(ROOT / "testdata" / "executables" / "models.popef")
    report = popef.check(path, deep=True)
    assert found(report) == told(tool, "--deep", path)
    assert "PE801" in {finding.rule for finding in report.findings}


@pytest.mark.parametrize("name", ["policy", "lenient", "known-imports"])
def test_a_policy_gives_the_findings_of_the_tool(name, tool):
    policy = ROOT / "testdata" / "validate" / f"{name}.toml"
    paths = [CHECKS / f"{rule}.popef" for rule in ("PE012", "PE101", "PE108", "PE503", "PE702")]
    findings = [found(popef.check(path, policy=policy)) for path in paths]
    assert findings == [told(tool, "--policy", policy, path) for path in paths]
    assert findings != [found(popef.check(path)) for path in paths]


def test_a_wrong_policy_is_told_with_its_line(tmp_path, interop):
    path = interop / "executable.popef"
    for name, text in [("unknown-key", "line 2, `max-size = 10`: "), ("unknown-rule", "there is no rule")]:
        policy = ROOT / "testdata" / "validate" / f"{name}.toml"
        with pytest.raises(ValueError, match=f"{name}.toml: .*{text}"):
            popef.check(path, policy=str(policy))
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        popef.check(path, policy=tmp_path / "missing.toml")


def test_the_progress_of_a_deep_check_is_told_and_ends_at_the_total(interop):
    steps = []
    popef.check(interop / "compressed-zlib.popef", deep=True, progress=lambda *step: steps.append(step))
    assert steps[-1][0] == steps[-1][1] > 0
    with pytest.raises(ZeroDivisionError):
        popef.check(interop / "compressed-zlib.popef", deep=True, progress=lambda *_: 1 / 0)
