class PopefError(RuntimeError):
    code: str | None
    kind: str | None
    advice: str | None
    path: str | None
    blob: int | None
    offset: int | None
    needed: int | None
    found: int | None
    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        kind: str | None = None,
        advice: str | None = None,
        path: str | None = None,
        blob: int | None = None,
        offset: int | None = None,
        needed: int | None = None,
        found: int | None = None,
    ) -> None: ...
