"""The exception for everything that is wrong with a file or a call."""


class PopefError(RuntimeError):
    """Something is wrong with a file, or with the order of calls.

    Failures of the system raise ``OSError`` and its subclasses instead, such as ``FileNotFoundError``, and a lack of memory
    ``MemoryError``.

    >>> import popef
    >>> try:
    ...     popef.open(b"text")
    ... except popef.PopefError as error:
    ...     print(error.code, error.kind, error.blob, error.offset)
    header-cut damaged 0 0
    """

    __module__ = "popef"

    def __init__(
        self, message, *, code=None, kind=None, advice=None, path=None, blob=None, offset=None, needed=None, found=None
    ):
        super().__init__(message)
        self.code = code
        """The stable name of what went wrong, such as ``blob-cut``. docs/ERRORS.md and docs/PYTHON.md list them."""
        self.kind = kind
        """The kind of error, such as ``damaged``, or None for a wrong order of calls."""
        self.advice = advice
        """What to do."""
        self.path = path
        """The file, or None."""
        self.blob = blob
        """The number of the blob in the file, or None."""
        self.offset = offset
        """The byte of the file, or None."""
        self.needed = needed
        """How much was needed, or None."""
        self.found = found
        """How much was found, or None."""

    def __reduce__(self):
        return type(self), self.args, self.__dict__
