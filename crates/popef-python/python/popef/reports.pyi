# Written by reports.py, from the schemas in docs.
from typing import Any, Literal, TypedDict, type_check_only

from typing_extensions import NotRequired

@type_check_only
class CompressReport(TypedDict):
    written: bool
    sizeBefore: int
    sizeAfter: int
    chosen: int
    changed: int
    executables: list[RecompressedExecutable]

@type_check_only
class RecompressedExecutable(TypedDict):
    index: int
    name: str
    nameBytes: NotRequired[str]
    unpackedSize: int
    sizeBefore: int
    sizeAfter: int
    was: Literal['zlib', 'gzip', 'zstd', 'lz4', None]
    now: Literal['zlib', 'gzip', 'zstd', 'lz4', None]
    outcome: Literal['compressed', 'decompressed', 'alreadyCompressed', 'notCompressed', 'wouldGrow']

@type_check_only
class MergeReport(TypedDict):
    size: int
    newFindings: list[SetFinding] | None
    blobs: int
    inputs: list[MergeReportInput]
    duplicates: MergeReportDuplicates
    replaced: MergeReportReplaced

@type_check_only
class SetFinding(TypedDict):
    rule: str
    severity: Literal['error', 'warning']
    blob: int | None
    message: str

@type_check_only
class MergeReportInput(TypedDict):
    path: NotRequired[str]
    pathBytes: NotRequired[str]
    blobs: int
    bytes: int

@type_check_only
class MergeReportDuplicates(TypedDict):
    count: int
    bytes: int
    first: list[MergeReportDuplicatesFirstItem]

@type_check_only
class MergeReportDuplicatesFirstItem(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    size: int
    input: int
    kept: MergeReportDuplicatesFirstItemKept

@type_check_only
class MergeReportDuplicatesFirstItemKept(TypedDict):
    input: int
    blob: int

@type_check_only
class MergeReportReplaced(TypedDict):
    count: int
    bytes: int
    first: list[MergeReportReplacedFirstItem]

@type_check_only
class MergeReportReplacedFirstItem(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    size: int
    input: int
    kept: MergeReportReplacedFirstItemKept

@type_check_only
class MergeReportReplacedFirstItemKept(TypedDict):
    input: int
    blob: int

@type_check_only
class SplitReport(TypedDict):
    parts: list[SplitReportPart]
    shared: SplitReportShared
    leftOver: SplitReportLeftOver

@type_check_only
class SplitReportPart(TypedDict):
    path: str
    pathBytes: NotRequired[str]
    blobs: int
    size: int
    tooLarge: bool

@type_check_only
class SplitReportShared(TypedDict):
    count: int
    bytes: int
    first: list[ListedBlob]

@type_check_only
class ListedBlob(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    size: int

@type_check_only
class SplitReportLeftOver(TypedDict):
    count: int
    bytes: int
    first: list[SplitReportLeftOverFirstItem]

@type_check_only
class SplitReportLeftOverFirstItem(TypedDict):
    path: str
    pathBytes: NotRequired[str]

@type_check_only
class StripReport(TypedDict):
    written: bool
    sizeBefore: int
    sizeAfter: int
    kept: int
    dropped: StripReportDropped
    droppedPrefix: int
    broken: list[StripReportBrokenItem]
    brokenCount: int

@type_check_only
class StripReportDropped(TypedDict):
    count: int
    bytes: int
    first: list[ListedBlob]

@type_check_only
class StripReportBrokenItem(TypedDict):
    name: str
    nameBytes: NotRequired[str]
    withoutExecutable: bool
    withoutMetadata: bool
    inputsWithoutData: int
    inputs: list[StripReportBrokenItemInput]

@type_check_only
class StripReportBrokenItemInput(TypedDict):
    name: str
    nameBytes: NotRequired[str]

@type_check_only
class RecoverReport(TypedDict):
    keptBlobs: int
    keptBytes: int
    leftOutBlobs: int
    lostBytes: int
    damage: Error | None
    lost: RecoverReportLost

@type_check_only
class Error(TypedDict):
    code: str
    kind: Literal['damaged', 'unknown', 'limit', 'outOfMemory', 'changed', 'busy', 'io', 'stopped', 'exists', 'wrongType', 'outOfRange', 'duplicate', 'unsupported', 'misuse', 'notPopef', 'request']
    message: str
    file: str | None
    fileBytes: NotRequired[str]
    blob: int | None
    offset: int | None
    needed: int | None
    found: int | None
    advice: str

@type_check_only
class RecoverReportLost(TypedDict):
    count: int
    bytes: int
    first: list[RecoverReportLostFirstItem]

@type_check_only
class RecoverReportLostFirstItem(TypedDict):
    start: int
    bytes: int
    isRest: bool
    damage: Error

@type_check_only
class DiffReport(TypedDict):
    verdict: Literal['same', 'different', 'notComparable']
    sameFile: bool
    reordered: bool | None
    prefix: BytesDiff | None
    counts: DiffReportCounts
    ignoredBytes: int
    blobs: list[BlobDiff]

@type_check_only
class BytesDiff(TypedDict):
    a: int
    b: int
    first: int | None
    different: int | None
    behindTensors: NotRequired[Literal[True]]

@type_check_only
class DiffReportCounts(TypedDict):
    same: int
    close: int
    notComparable: int
    renamed: int
    changed: int
    removed: int
    added: int

@type_check_only
class BlobDiff(TypedDict):
    status: Literal['close', 'notComparable', 'renamed', 'changed', 'removed', 'added']
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    a: DiffSide | None
    b: DiffSide | None
    changes: NotRequired[list[FieldDiff]]
    values: NotRequired[ValueDiff]
    bytes: NotRequired[BytesDiff]
    error: NotRequired[Error]

@type_check_only
class DiffSide(TypedDict):
    index: int
    offset: int
    size: int
    dataSize: int
    tensors: NotRequired[str]
    poplarHeader: NotRequired[dict[str, Any]]

@type_check_only
class FieldDiff(TypedDict):
    list: NotRequired[Literal['anchors', 'engineOptions', 'deviceOptions', 'programsMap']]
    name: NotRequired[str]
    nameBytes: NotRequired[str]
    field: NotRequired[str]
    a: Any
    b: Any

@type_check_only
class ValueDiff(TypedDict):
    elements: int
    different: int
    differentTensors: NotRequired[int]
    maxAbs: float | Literal['Infinity'] | None
    maxRel: float | Literal['Infinity'] | None
    notANumber: int
    first: ValueDiffFirst | None

@type_check_only
class ValueDiffFirst(TypedDict):
    tensor: NotRequired[int]
    index: list[int]
    a: float | bool | str
    b: float | bool | str

@type_check_only
class HashReport(TypedDict):
    size: int | None
    damaged: int
    complete: bool
    prefix: NotRequired[HashReportPrefix]
    content: NotRequired[Digests]
    headers: NotRequired[Digests]
    whole: NotRequired[Digests]
    blobs: list[BlobHash]

@type_check_only
class HashReportPrefix(TypedDict):
    size: int
    data: Digests

@type_check_only
class Digests(TypedDict):
    sha256: NotRequired[str]
    blake3: NotRequired[str]

@type_check_only
class BlobHash(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    executable: NotRequired[str | list[int]]
    dataSize: int
    data: NotRequired[Digests]
    content: NotRequired[Digests]
    error: NotRequired[Error]

@type_check_only
class VerifyReport(TypedDict):
    ok: bool
    whole: NotRequired[bool]
    content: NotRequired[bool]
    prefix: NotRequired[bool]
    chosen: NotRequired[int]
    changed: int
    missing: int
    added: int
    blobs: list[WrongBlob]

@type_check_only
class WrongBlob(TypedDict):
    verdict: Literal['changed', 'missing', 'added']
    index: NotRequired[int]
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    executable: NotRequired[str | list[int]]
    data: NotRequired[bool]
    content: NotRequired[bool]

@type_check_only
class SetReport(TypedDict):
    written: bool
    sizeBefore: int
    sizeAfter: int
    newFindings: list[SetFinding] | None
    blobs: list[SetBlob]

@type_check_only
class SetBlob(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    changes: list[SetBlobChange]

@type_check_only
class SetBlobChange(TypedDict):
    field: str
    old: Any
    new: Any

@type_check_only
class ExtractReport(TypedDict):
    extracted: int
    leftOut: int
    dataSize: int
    extractedSize: int
    others: list[ExtractedPart]
    blobs: list[ExtractedBlob]

@type_check_only
class ExtractedPart(TypedDict):
    path: str
    size: int

@type_check_only
class ExtractedBlob(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    path: str | None
    key: NotRequired[str]
    surplus: NotRequired[ExtractedPart]
    dataSize: int
    extractedSize: int
    notes: list[Literal['as-bytes', 'as-u8', 'raw', 'surplus', 'recompressed', 'as-zlib', 'type-lost', 'surplus-left-out', 'renamed', 'name-kept', 'feed-lost', 'unread']]

@type_check_only
class PackReport(TypedDict):
    size: int
    same: int
    changed: int
    compressed: int
    wouldGrow: int
    new: int
    problems: list[str]
    problemCount: int
    warnings: list[str]
    warningCount: int
    leftOut: list[PackReportLeftOutItem]
    leftOutCount: int
    newFindings: list[SetFinding] | None
    blobs: list[PackedBlob]

@type_check_only
class PackReportLeftOutItem(TypedDict):
    file: str
    array: NotRequired[str]

@type_check_only
class PackedBlob(TypedDict):
    index: int
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    name: str
    nameBytes: NotRequired[str]
    size: int
    state: Literal['same', 'changed', 'compressed', 'wouldGrow', 'new']
    was: NotRequired[Literal['zlib', 'gzip', 'zstd', 'lz4']]
    now: NotRequired[Literal['zlib', 'gzip']]
    takenAs: NotRequired[Literal['F8', 'F8143', 'F8152']]

@type_check_only
class DescribedFile(TypedDict):
    path: str | None
    pathBytes: NotRequired[str]
    size: int | None
    prefix: NotRequired[dict[str, Any]]
    blobs: list[Blob]
    network: NotRequired[Network]
    error: NotRequired[Error]

@type_check_only
class Blob(TypedDict):
    index: int
    offset: int
    size: int
    version: str
    versionBytes: NotRequired[str]
    type: Literal['poplarExecutable', 'metadata', 'dataTensor', 'dataFeed', 'opaque'] | int
    dataOffset: int
    dataSize: int
    info: dict[str, Any]
    payload: NotRequired[dict[str, Any]]
    error: NotRequired[Error]

@type_check_only
class Network(TypedDict):
    requests: int
    bytes: int

@type_check_only
class Description(TypedDict):
    schemaVersion: int
    files: list[DescribedFile]
