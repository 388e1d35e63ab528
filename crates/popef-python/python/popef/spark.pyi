from collections.abc import Iterable
from typing import Literal

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

__all__ = ["PopefDataSource", "register", "schema"]

def register(spark: SparkSession, *, push_filters: bool = False) -> None: ...
def schema(
    *,
    per: Literal["blob", "file"] = "blob",
    check: Literal["quick", "deep"] | None = None,
    hash: Literal["blake3", "sha256"] | None = None,
    columns: Iterable[str] | None = None,
) -> StructType: ...

class PopefDataSource(DataSource):
    @classmethod
    def name(cls) -> str: ...
    def schema(self) -> StructType: ...
    def reader(self, schema: StructType) -> DataSourceReader: ...
