"""Makes the Parquet files beside it: one table, by the codecs and page versions of two writers."""

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

n = 300
site = [f"site {i % 7}" for i in range(n)]
x = [None if i % 5 == 0 else i * 0.25 for i in range(n)]
count = [i * i for i in range(n)]

pl.DataFrame({"site": site, "x": x, "n": count}).write_parquet("polars-zstd.parquet")
table = pa.table({"site": site, "x": pa.array(x, pa.float64()), "n": count})
for codec in ["zstd", "gzip", "brotli", "lz4"]:
    pq.write_table(table, f"arrow-{codec}.parquet", compression=codec)
pq.write_table(table, "arrow-zstd-v2.parquet", compression="zstd", data_page_version="2.0", use_dictionary=["site"])
