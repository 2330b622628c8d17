"""The peers of the vector benchmark: each files the vectors in a folder, opens that folder again and finds the ten nearest.

A peer has `build(blocks, folder)`, which gets (first id, array) pairs, `open(folder)`, and `search(vector)`, which gives ids.
Settings are the library's defaults unless a line here says otherwise. Distances are cosines.
"""
import importlib.metadata

DIMENSIONS, LIMIT = 384, 10


class SqliteVec:
    """sqlite-vec's exact scan."""
    package = "sqlite-vec"
    columns = f"embedding float[{DIMENSIONS}] distance_metric=cosine"
    insert = "INSERT INTO vectors (rowid, embedding) VALUES (?1, ?2)"
    nearest = f"SELECT rowid FROM vectors WHERE embedding MATCH ?1 AND k = {LIMIT} ORDER BY distance"

    def open(self, folder):
        # Python's own SQLite cannot load extensions everywhere.
        import apsw
        import sqlite_vec
        self.database = apsw.Connection(str(folder / "vectors.db"))
        self.database.enable_load_extension(True)
        self.database.load_extension(sqlite_vec.loadable_path())

    def build(self, blocks, folder):
        self.open(folder)
        self.database.execute(f"CREATE VIRTUAL TABLE vectors USING vec0 ({self.columns})")
        with self.database:
            for first, block in blocks:
                rows = ((first + place, vector.tobytes()) for place, vector in enumerate(block))
                self.database.executemany(self.insert, rows)
        self.database.close()

    def search(self, vector):
        return [row[0] for row in self.database.execute(self.nearest, (vector.tobytes(),))]


class SqliteVecBits(SqliteVec):
    """sqlite-vec with one bit a dimension, and eight times as many as are wanted measured again, as in its guide; with the
    whole vectors in an auxiliary column, which is quicker than the guide's second vector column."""
    columns = f"coarse bit[{DIMENSIONS}], +embedding blob"
    insert = "INSERT INTO vectors (rowid, coarse, embedding) VALUES (?1, vec_quantize_binary(?2), ?2)"
    nearest = f"""WITH near AS MATERIALIZED (
                      SELECT rowid, embedding FROM vectors WHERE coarse MATCH vec_quantize_binary(?1) AND k = {8 * LIMIT})
                  SELECT rowid FROM near ORDER BY vec_distance_cosine(embedding, ?1) LIMIT {LIMIT}"""


class DuckDb:
    """DuckDB's exact scan: array_cosine_distance over all rows."""
    package = "duckdb"
    index = None

    def open(self, folder):
        import duckdb
        self.database = duckdb.connect(str(folder / "vectors.duckdb"))

    def build(self, blocks, folder):
        import pyarrow
        self.open(folder)
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
        # Written out: a parameter takes it two to three times as long.
        numbers = ", ".join(map(repr, vector.tolist()))
        found = self.database.execute(
            f"""SELECT id FROM vectors ORDER BY array_cosine_distance(embedding, [{numbers}]::FLOAT[{DIMENSIONS}])
                LIMIT {LIMIT}""")
        return [row[0] for row in found.fetchall()]


class DuckDbVss(DuckDb):
    """DuckDB with the HNSW index of its extension vss, taken from PyPI's package of it."""
    package = "duckdb-extension-vss"
    index = "CREATE INDEX along ON vectors USING HNSW (embedding) WITH (metric = 'cosine')"

    def open(self, folder):
        import duckdb
        self.database = duckdb.connect()
        try:
            from duckdb_extensions import import_extension
            import_extension("vss")
        except ImportError:
            self.database.execute("INSTALL vss")
        self.database.execute("LOAD vss")
        # Without this an index lives in memory alone.
        self.database.execute("SET hnsw_enable_experimental_persistence = true")
        self.database.execute(f"ATTACH '{folder / 'vectors.duckdb'}' AS kept")
        self.database.execute("USE kept")


class Lance:
    """LanceDB without an index: its exact scan."""
    package = "lancedb"
    index = None

    def open(self, folder):
        import lancedb
        self.table = lancedb.connect(folder / "lance").open_table("vectors")

    def build(self, blocks, folder):
        import lancedb
        import pyarrow
        schema = pyarrow.schema([("id", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), DIMENSIONS))])
        table = lancedb.connect(folder / "lance").create_table("vectors", schema=schema)
        for first, block in blocks:
            vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(block.reshape(-1)), DIMENSIONS)
            table.add(pyarrow.table([pyarrow.array(range(first, first + len(block))), vectors], schema=schema))
        if self.index:
            table.create_index(metric="cosine", vector_column_name="vector", index_type=self.index)

    def search(self, vector):
        asked = self.table.search(vector).distance_type("cosine").limit(LIMIT).select(["id"])
        # What an index found is measured again, ten times as many as are wanted.
        asked = asked.refine_factor(10) if self.index else asked
        return asked.to_arrow()["id"].to_pylist()


class LancePq(Lance):
    """LanceDB with the index that it makes unless told otherwise, 100 candidates measured again."""
    index = "IVF_PQ"


class LanceHnsw(Lance):
    """LanceDB with HNSW over 8 bits, 100 candidates measured again."""
    index = "IVF_HNSW_SQ"


class Hnswlib:
    """hnswlib: M 16, ef_construction 200, ef 100 for the search, built on all cores."""
    package = "hnswlib"

    def build(self, blocks, folder):
        import hnswlib
        blocks = list(blocks)
        index = hnswlib.Index(space="cosine", dim=DIMENSIONS)
        index.init_index(max_elements=sum(len(block) for _, block in blocks), M=16, ef_construction=200, random_seed=1)
        for first, block in blocks:
            index.add_items(block, range(first, first + len(block)))
        index.save_index(str(folder / "vectors.hnsw"))

    def open(self, folder):
        import hnswlib
        self.index = hnswlib.Index(space="cosine", dim=DIMENSIONS)
        self.index.load_index(str(folder / "vectors.hnsw"))
        self.index.set_ef(100)

    def search(self, vector):
        return self.index.knn_query(vector, k=LIMIT)[0][0].tolist()


class Chroma:
    """Chroma's persistent client, with the defaults of its HNSW index."""
    package = "chromadb"

    def client(self, folder):
        import chromadb
        return chromadb.PersistentClient(str(folder / "chroma"), chromadb.Settings(anonymized_telemetry=False))

    def build(self, blocks, folder):
        configuration = {"hnsw": {"space": "cosine"}}
        talk = self.client(folder).create_collection("vectors", configuration=configuration, embedding_function=None)
        for first, block in blocks:
            # It takes no more than some five thousand at once.
            for start in range(0, len(block), 5000):
                part = block[start:start + 5000]
                talk.add([str(first + start + place) for place in range(len(part))], embeddings=part)

    def open(self, folder):
        self.collection = self.client(folder).get_collection("vectors", embedding_function=None)

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
