"""The types of what functions such as ``popef.hash`` return, for type checkers alone: they are dicts of the standard types.

if typing.TYPE_CHECKING:
    from popef.reports import HashReport
"""
