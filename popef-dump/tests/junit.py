"""Reads JUnit XML from standard input with Python's own parser, and prints its test cases as JSON. Several documents have NUL
between them, and become a line each.

Fails where the XML is not as Jenkins' schema (junit-10.xsd of its xUnit plugin) wants it, where the counts of a suite are wrong,
and where GitLab would drop a test case, because its class and name are those of another.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

# For each element: the attributes that it must have, those that it can have, and the elements in it.
RESULTS = {"failure", "error", "skipped", "system-out"}
SCHEMA = {
    "testsuites": (set(), {"name", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"skipped"}, {"properties", "testcase"}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname"}, RESULTS),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}


def check(element):
    must, can, inside = SCHEMA[element.tag]
    attributes = set(element.keys())
    assert must <= attributes <= must | can, (element.tag, attributes)
    assert not inside or not (element.text or "").strip(), (element.tag, element.text)
    for child in element:
        assert child.tag in inside, (element.tag, child.tag)
        assert not (child.tail or "").strip(), (child.tag, child.tail)
        check(child)


def test_cases(document):
    root = ElementTree.fromstring(document)
    assert root.tag == "testsuites", root.tag
    check(root)
    return [case for suite in root for case in cases_of(suite)]


def cases_of(suite):
    cases = suite.findall("testcase")
    for attribute, element in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]:
        count = sum(case.find(element) is not None for case in cases)
        assert int(suite.get(attribute)) == count, (suite.attrib, attribute, count)
    assert int(suite.get("tests")) == len(cases) > 0, suite.attrib
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases), suite.attrib
    return [described(suite, case) for case in cases]


def described(suite, case):
    assert len(case) <= 1, case.attrib
    result = case[0] if len(case) else None
    return {
        "suite": suite.get("name"),
        "class": case.get("classname"),
        "name": case.get("name"),
        "result": "passed" if result is None else result.tag,
        "type": None if result is None else result.get("type"),
        "message": None if result is None else result.get("message"),
        "text": None if result is None else result.text,
    }


for document in sys.stdin.buffer.read().split(b"\0"):
    print(json.dumps(test_cases(document)))
