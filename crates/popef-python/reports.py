"""Writes python/popef/reports.pyi: the types of what functions such as `popef.hash` return, from the schemas in docs.

    python reports.py            # writes the file
    python reports.py --check    # fails if the schemas say something else by now
"""

import json
import keyword
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
FILE = HERE / "python" / "popef" / "reports.pyi"
HEAD = '''# Written by reports.py, from the schemas in docs.
from typing import Any, Literal, TypedDict, type_check_only

from typing_extensions import NotRequired
'''

# What the tool adds to a report, because it has files with paths and can go on after an error.
OF_THE_TOOL = {"schemaVersion", "network", "path", "pathBytes", "output", "outputBytes", "error", "status", "a", "b"}
# The definitions that make up the report of a function.
REPORTS = {
    "CompressReport": ["recompressedFile", {"executables": "recompressedExecutable"}],
    "MergeReport": ["mergeFields", {}],
    "SplitReport": ["splitFields", {}],
    "StripReport": ["stripFields", {}],
    "RecoverReport": ["recoverFields", {}],
    "DiffReport": ["diffReport", {"blobs": "blobDiff"}],
    "HashReport": ["fileHash", {"blobs": "blobHash"}],
    "VerifyReport": ["verifiedFile", {"blobs": "wrongBlob"}],
    "SetReport": ["setFields", {"blobs": "setBlob"}],
    "ExtractReport": ["extractedFile", {"blobs": "extractedBlob"}],
    "PackReport": ["packed", {"blobs": "packedBlob"}],
}
# What a function always says.
ALWAYS = {"VerifyReport": ["ok", "changed", "missing", "added"]}

# What the tool always says, but not a function that was asked to leave it out.
NOT_ALWAYS = {"BlobHash": {"data"}}
# Objects with keys that no schema lists.
OPEN = {"Payload"}


class Schemas:
    """Definitions, and the classes that are made of them."""

    def __init__(self):
        self.files = {path.name: json.loads(path.read_text()) for path in DOCS.glob("*.schema.json")}
        self.classes = {}

    def resolve(self, schema, file):
        """A schema with what it refers to, the file that this is in, and its name there."""
        if "$ref" not in schema:
            return schema, file, None
        target, _, pointer = schema["$ref"].partition("#/")
        file = target or file
        found = self.files[file]
        for part in pointer.split("/"):
            found = found[part]
        found, file, name = self.resolve(found, file)
        rest = {key: value for key, value in schema.items() if key not in ("$ref", "description", "unevaluatedProperties")}
        if not rest:
            return found, file, name or pointer.rpartition("/")[2]
        properties = {**found.get("properties", {}), **rest.get("properties", {})}
        required = [*found.get("required", []), *rest.get("required", [])]
        return {**found, **rest, "properties": properties, "required": required}, file, None

    def type_of(self, schema, file, hint):
        if schema is True:
            return "Any"
        schema, file, name = self.resolve(schema, file)
        if name is not None:
            hint = name[0].upper() + name[1:]
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        choices = [choice for key in ("oneOf", "anyOf") for choice in schema.get(key, []) if set(choice) - {"required"}]
        if choices and "properties" not in schema:
            return union(self.type_of(choice, file, hint) for choice in choices)
        kinds = schema.get("type", "object" if "properties" in schema else None)
        return union(self.of_kind(kind, schema, file, hint) for kind in ([kinds] if not isinstance(kinds, list) else kinds))

    def of_kind(self, kind, schema, file, hint):
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        if kind in plain:
            return plain[kind]
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', True), file, one_of(hint))}]"
        if kind == "object":
            return self.of_object(schema, file, hint)
        return "Any"

    def of_object(self, schema, file, hint):
        others = schema.get("additionalProperties", True)
        properties = schema.get("properties") or dict.fromkeys(schema.get("required", []), others)
        if hint in OPEN:
            return "dict[str, Any]"
        if not properties:
            value = "Any" if isinstance(others, bool) else self.type_of(others, file, hint)
            return f"dict[str, {value}]"
        self.add(hint, schema, file, properties)
        return hint

    def add(self, name, schema, file, properties, always=()):
        """Makes a class."""
        if name in self.classes:
            return
        self.classes[name] = None
        required = {*schema.get("required", []), *schema.get("then", {}).get("required", []), *always}
        required -= NOT_ALWAYS.get(name, set())
        fields = {}
        for key, value in properties.items():
            found = self.type_of(value, file, name + key[0].upper() + key[1:])
            fields[key] = found if key in required else f"NotRequired[{found}]"
        self.classes[name] = fields

    def report(self, name, definition, lists):
        file = "toolbox.schema.json"
        schema, file, _ = self.resolve({"$ref": f"#/$defs/{definition}"}, file)
        rows = {key: {"type": "array", "items": {"$ref": f"#/$defs/{row}"}} for key, row in lists.items()}
        properties = {key: value for key, value in schema["properties"].items() if key not in OF_THE_TOOL} | rows
        self.add(name, schema, file, properties, [*rows, *ALWAYS.get(name, [])])

    def description(self):
        schema, file, _ = self.resolve({"$ref": "#/$defs/file"}, "dump.schema.json")
        properties = {**schema["properties"], "path": {"type": ["string", "null"]}}
        self.add("DescribedFile", schema, file, properties)
        document = {"schemaVersion": {"type": "integer"}}
        self.add("Description", {"required": ["schemaVersion", "files"]}, file, document)
        self.classes["Description"]["files"] = "list[DescribedFile]"


def one_of(name):
    """The name of one item of a list."""
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else f"{name}Item"


def union(types):
    types = list(dict.fromkeys(types))
    return "Any" if "Any" in types else " | ".join(sorted(types, key=lambda type: type == "None"))


def text():
    schemas = Schemas()
    for name, (definition, lists) in REPORTS.items():
        schemas.report(name, definition, lists)
    schemas.description()
    parts = [HEAD]
    for name, fields in schemas.classes.items():
        if any(keyword.iskeyword(key) or not key.isidentifier() for key in fields):
            inner = ", ".join(f"{key!r}: {type}" for key, type in fields.items())
            parts.append(f"{name} = TypedDict({name!r}, {{{inner}}})\n")
        else:
            lines = "".join(f"    {key}: {type}\n" for key, type in fields.items())
            parts.append(f"@type_check_only\nclass {name}(TypedDict):\n{lines}")
    return "\n".join(parts)


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(text(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text():
        sys.exit(f"{FILE.name} is not what the schemas say any more: run {pathlib.Path(__file__).name}")
