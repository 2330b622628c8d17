"""The peers of the vector benchmark: each stores the vectors in a directory, reopens it and finds the ten nearest.

A peer has `build(blocks, directory)`, which takes (first id, array) pairs, `open(directory)`, and `search(vector)`, which returns
ids. All settings not listed here are the library's defaults. Distances are cosines.
"""
import importlib.metadata

DIMENSIONS, LIMIT = 384, 10


class SqliteVec:
    """sqlite-vec's exact scan."""
    package = "sqlite-vec"
    columns = f"embedding float[{DIMENSIONS}] distance_metric=cosine"
    insert = "INSERT INTO vectors (rowid, embedding) VALUES (?1, ?2)"
    nearest = f"SELECT rowid FROM vectors WHERE embedding MATCH ?1 AND k = {LIMIT} ORDER BY distance"

    def open(self, directory):
        # In some Python builds, the sqlite3 module cannot load extensions.
        import apsw
        import sqlite_vec
        self.database = apsw.Connection(str(directory / "vectors.db"))
        self.database.enable_load_extension(True)
        self.database.load_extension(sqlite_vec.loadable_path())

    def build(self, blocks, directory):
        self.open(directory)
        self.database.execute(f"CREATE VIRTUAL TABLE vectors USING vec0 ({self.columns})")
        with self.database:
            for first, block in blocks:
                rows = ((first + position, vector.tobytes()) for position, vector in enumerate(block))
                self.database.executemany(self.insert, rows)
        self.database.close()

    def search(self, vector):
        return [row[0] for row in self.database.execute(self.nearest, (vector.tobytes(),))]


class SqliteVecBits(SqliteVec):
    """sqlite-vec with one bit per dimension. As in its guide, it rescores eight times as many candidates as results. The full
    vectors are in an auxiliary column, which is faster than the second vector column of the guide."""
    columns = f"coarse bit[{DIMENSIONS}], +embedding blob"
    insert = "INSERT INTO vectors (rowid, coarse, embedding) VALUES (?1, vec_quantize_binary(?2), ?2)"
    nearest = f"""WITH near AS MATERIALIZED (
                      SELECT rowid, embedding FROM vectors WHERE coarse MATCH vec_quantize_binary(?1) AND k = {8 * LIMIT})
                  SELECT rowid FROM near ORDER BY vec_distance_cosine(embedding, ?1) LIMIT {LIMIT}"""


class DuckDb:
    """DuckDB's exact scan: array_cosine_distance over all rows."""
    package = "duckdb"
    index = None

    def open(self, directory):
        import duckdb
        self.database = duckdb.connect(str(directory / "vectors.duckdb"))

    def build(self, blocks, directory):
        import pyarrow
        self.open(directory)
        self.database.execute(f"CREATE TABLE vectors (id BIGINT, embedding FLOAT[{DIMENSIONS}])")
        for first, block in blocks:
            flat = pyarrow.array(block.reshape(-1))
            ids = pyarrow.array(range(first, first + len(block)))
            rows = pyarrow.table({"id": ids, "embedding": pyarrow.FixedSizeListArray.from_arrays(flat, DIMENSIONS)})
            self.database.register("rows", rows)
            self.database.execute("INSERT INTO vectors SELECT * FROM rows")
            self.database.unregister("rows")
        if self.index:
            self.database.execute(self.index)
        self.database.close()

    def search(self, vector):
        # The vector is part of the SQL text because a parameter makes the query two to three times as slow.
        numbers = ", ".join(map(repr, vector.tolist()))
        rows = self.database.execute(
            f"""SELECT id FROM vectors ORDER BY array_cosine_distance(embedding, [{numbers}]::FLOAT[{DIMENSIONS}])
                LIMIT {LIMIT}""")
        return [row[0] for row in rows.fetchall()]


class DuckDbVss(DuckDb):
    """DuckDB with the HNSW index of its vss extension, installed from PyPI."""
    package = "duckdb-extension-vss"
    index = "CREATE INDEX nearest ON vectors USING HNSW (embedding) WITH (metric = 'cosine')"

    def open(self, directory):
        import duckdb
        self.database = duckdb.connect()
        try:
            from duckdb_extensions import import_extension
            import_extension("vss")
        except ImportError:
            self.database.execute("INSTALL vss")
        self.database.execute("LOAD vss")
        # Without this setting, the index exists only in memory.
        self.database.execute("SET hnsw_enable_experimental_persistence = true")
        self.database.execute(f"ATTACH '{directory / 'vectors.duckdb'}' AS vector_store")
        self.database.execute("USE vector_store")


class Lance:
    """LanceDB's exact scan, without an index."""
    package = "lancedb"
    index = None

    def open(self, directory):
        import lancedb
        self.table = lancedb.connect(directory / "lance").open_table("vectors")

    def build(self, blocks, directory):
        import lancedb
        import pyarrow
        schema = pyarrow.schema([("id", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), DIMENSIONS))])
        table = lancedb.connect(directory / "lance").create_table("vectors", schema=schema)
        for first, block in blocks:
            vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(block.reshape(-1)), DIMENSIONS)
            table.add(pyarrow.table([pyarrow.array(range(first, first + len(block))), vectors], schema=schema))
        if self.index:
            table.create_index(metric="cosine", vector_column_name="vector", index_type=self.index)

    def search(self, vector):
        query = self.table.search(vector).distance_type("cosine").limit(LIMIT).select(["id"])
        # With an index, rescore ten times as many candidates as results.
        query = query.refine_factor(10) if self.index else query
        return query.to_arrow()["id"].to_pylist()


class LancePq(Lance):
    """LanceDB with its default index; rescores 100 candidates."""
    index = "IVF_PQ"


class LanceHnsw(Lance):
    """LanceDB with HNSW over 8-bit vectors; rescores 100 candidates."""
    index = "IVF_HNSW_SQ"


class Hnswlib:
    """hnswlib with M 16, ef_construction 200 and a search ef of 100, built on all cores."""
    package = "hnswlib"

    def build(self, blocks, directory):
        import hnswlib
        blocks = list(blocks)
        index = hnswlib.Index(space="cosine", dim=DIMENSIONS)
        index.init_index(max_elements=sum(len(block) for _, block in blocks), M=16, ef_construction=200, random_seed=1)
        for first, block in blocks:
            index.add_items(block, range(first, first + len(block)))
        index.save_index(str(directory / "vectors.hnsw"))

    def open(self, directory):
        import hnswlib
        self.index = hnswlib.Index(space="cosine", dim=DIMENSIONS)
        self.index.load_index(str(directory / "vectors.hnsw"))
        self.index.set_ef(100)

    def search(self, vector):
        return self.index.knn_query(vector, k=LIMIT)[0][0].tolist()


class Chroma:
    """Chroma's persistent client with its default HNSW settings."""
    package = "chromadb"

    def client(self, directory):
        import chromadb
        return chromadb.PersistentClient(str(directory / "chroma"), chromadb.Settings(anonymized_telemetry=False))

    def build(self, blocks, directory):
        configuration = {"hnsw": {"space": "cosine"}}
        collection = self.client(directory).create_collection("vectors", configuration=configuration, embedding_function=None)
        for first, block in blocks:
            # Chroma accepts little more than 5,000 vectors per call.
            for start in range(0, len(block), 5000):
                part = block[start:start + 5000]
                collection.add([str(first + start + position) for position in range(len(part))], embeddings=part)

    def open(self, directory):
        self.collection = self.client(directory).get_collection("vectors", embedding_function=None)

    def search(self, vector):
        return [int(name) for name in self.collection.query(vector[None], n_results=LIMIT, include=[])["ids"][0]]


PEERS = {
    "sqlite-vec, exact": SqliteVec,
    "sqlite-vec, bits re-scored": SqliteVecBits,
    "DuckDB, exact": DuckDb,
    "DuckDB VSS, HNSW": DuckDbVss,
    "LanceDB, exact": Lance,
    "LanceDB, IVF_PQ": LancePq,
    "LanceDB, IVF_HNSW_SQ": LanceHnsw,
    "hnswlib": Hnswlib,
    "Chroma, HNSW": Chroma,
}


def version(name):
    try:
        return importlib.metadata.version(PEERS[name].package)
    except importlib.metadata.PackageNotFoundError:
        return None
