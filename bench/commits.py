#!/usr/bin/env python3
"""Measures exchanges committed per second (from the median), each in its own transaction that is on disk when it returns.

    python commits.py [--count 1000]

For each exchange, `memoir-store-sqlite` writes a row to `exchanges`, two to `messages` and one to `costs`, and updates the
conversation. Memoir is measured by that crate's benchmark; DuckDB and Python's SQLite write the same columns. SQLite is measured
twice: with the rows alone, and with the indexes and the full-text index that Memoir has. DuckDB's full-text index is not updated
when rows are added, so DuckDB is measured without one.
"""
import argparse
import os
import re
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb

import common

STORED = 100_000
TABLES = {
    "conversations": "id, title, scope, model, created, updated",
    "exchanges": "id, conversation_id, status, started, completed, user_message, assistant_message, model, input_tokens, "
                 "output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost, tool_call_count, request_count",
    "messages": "id, exchange_id, conversation_id, role, content, redacted, derived, tokens, created",
    "costs": "id, conversation_id, exchange_id, purpose, model, input_tokens, output_tokens, cached_tokens, "
             "cache_write_tokens, reasoning_tokens, cost, created",
}
TEXTS = {"title", "scope", "model", "status", "user_message", "assistant_message", "role", "content", "purpose"}
INDEXES = ["conversations (scope, updated)", "conversations (updated)", "exchanges (conversation_id, id)",
           "messages (exchange_id, id)", "messages (conversation_id, id)", "costs (created)", "costs (conversation_id)",
           "costs (exchange_id)"]
FULL_TEXT = """
    CREATE VIRTUAL TABLE messages_text USING fts5 (content, content = 'messages', content_rowid = 'id',
                                                   tokenize = 'porter unicode61 remove_diacritics 2');
    CREATE TRIGGER messages_text_insert AFTER INSERT ON messages BEGIN
        INSERT INTO messages_text (rowid, content) VALUES (new.id, new.content);
    END"""


def create_statements(integer, text):
    for table, columns in TABLES.items():
        typed = [f"{column} {text if column in TEXTS else integer}" for column in columns.split(", ")]
        yield f"CREATE TABLE {table} ({typed[0]} PRIMARY KEY, {', '.join(typed[1:])})"


def exchange_rows(number):
    """Yields a table and a row for everything that one exchange writes."""
    question = f"How did we mend the timeout of service {number}?"
    answer = "By raising the pool's limit and closing idle connections."
    tokens = (10, 5, 4, 2, 1)
    yield "exchanges", (number, 1, "completed", number, number + 10, question, answer, "test/model", *tokens, 1500, 0, 1)
    yield "messages", (2 * number, number, 1, "user", question, 0, 0, len(question) // 4, number)
    yield "messages", (2 * number + 1, number, 1, "assistant", answer, 0, 0, len(answer) // 4, number + 10)
    yield "costs", (number, 1, number, "chat", "test/model", *tokens, 1500, number + 10)


INSERT = {table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns.split(', ')))})" for table, columns in TABLES.items()}


def commit(database, number):
    database.execute("BEGIN")
    database.execute("UPDATE conversations SET model = ?, updated = greatest(updated, ?) WHERE id = 1"
                     if isinstance(database, duckdb.DuckDBPyConnection) else
                     "UPDATE conversations SET model = ?, updated = max(updated, ?) WHERE id = 1", ("test/model", number))
    for table, row in exchange_rows(number):
        database.execute(INSERT[table], row)
    database.execute("COMMIT")


def measure(database, stored, count):
    database.execute(INSERT["conversations"], (1, "bench", "/bench", "test/model", 0, 0))
    by_table = {}
    for number in range(1, stored // 2 + 1):
        for table, row in exchange_rows(number):
            by_table.setdefault(table, []).append(row)
    database.execute("BEGIN")
    for table, rows in by_table.items():
        if isinstance(database, duckdb.DuckDBPyConnection):
            fill_duckdb(database, table, rows)
        else:
            database.executemany(INSERT[table], rows)
    database.execute("COMMIT")
    times, cpu_start = [], time.process_time()
    for number in range(stored // 2 + 1, stored // 2 + 1 + count):
        started = time.perf_counter()
        commit(database, number)
        times.append(1000 * (time.perf_counter() - started))
    cpu = 1000 * (time.process_time() - cpu_start) / count
    database.close()
    median = common.percentile(times, 0.5)
    return {"fastest_ms": min(times), "median_ms": median, "mean_ms": sum(times) / count, "cpu_ms": cpu,
            "per_second": 1000 / median, "count": count}


def fill_duckdb(database, table, rows):
    """Inserts all rows at once, because DuckDB is slow at inserting single rows."""
    import pyarrow
    columns = TABLES[table].split(", ")
    new_rows = pyarrow.table({column: [row[position] for row in rows] for position, column in enumerate(columns)})
    database.register("new_rows", new_rows)
    database.execute(f"INSERT INTO {table} SELECT * FROM new_rows")
    database.unregister("new_rows")


def open_duckdb(directory):
    database = duckdb.connect(str(directory / "conversation.duckdb"))
    for statement in create_statements("BIGINT", "VARCHAR"):
        database.execute(statement)
    return database


def open_sqlite(directory, with_indexes):
    database = sqlite3.connect(directory / "conversation.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    for statement in create_statements("INTEGER", "TEXT"):
        database.execute(statement)
    if with_indexes:
        for number, index in enumerate(INDEXES):
            database.execute(f"CREATE INDEX index_{number} ON {index}")
        database.executescript(FULL_TEXT)
    return database


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+) (\S+)", text.strip()).groups()
    return float(number) * {"ns": 1e-6, "µs": 1e-3, "us": 1e-3, "ms": 1, "s": 1000}[unit]


def measure_memoir():
    """Runs Memoir's benchmark. Its columns are fastest, slowest, median, mean, samples, iterations."""
    if "COMMITS" in os.environ:
        output = subprocess.run([os.environ["COMMITS"], "--bench"], check=True, stdout=subprocess.PIPE, text=True).stdout
    else:
        output = common.cargo("bench", "-p", "memoir-store-sqlite", "--bench", "commit")
    rows = {}
    for line in output.splitlines():
        cells = [cell.strip() for cell in line.lstrip("│├╰─ ").split("│")]
        name = re.match(r"(\w+)\s+([\d.]+ \S+)$", cells[0])
        if name and len(cells) >= 5:
            median = milliseconds(cells[2])
            rows[name[1]] = {"fastest_ms": milliseconds(name[2]), "median_ms": median, "mean_ms": milliseconds(cells[3]),
                             "per_second": 1000 / median, "count": int(cells[4])}
    return {"0": rows["0"], str(STORED): rows[str(STORED)]}, rows["sync_of_the_disk"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    ours, sync = measure_memoir()
    figures = {"Memoir": ours}
    peers = {"SQLite, rows alone": lambda directory: open_sqlite(directory, False),
             "SQLite, indices and full text": lambda directory: open_sqlite(directory, True), "DuckDB": open_duckdb}
    for name, open_database in peers.items():
        for stored in (0, STORED):
            with tempfile.TemporaryDirectory() as directory:
                figures.setdefault(name, {})[str(stored)] = measure(open_database(Path(directory)), stored, count)
    versions = {"DuckDB": duckdb.__version__, "SQLite": sqlite3.sqlite_version}
    common.save("commits", {"figures": figures, "sync_of_the_disk": sync, "versions": versions})
    print(f"{'stored messages':<34}{'0':>12}{'x ours':>9}{STORED:>12,}{'x ours':>9}    exchanges per second")
    for name, row in figures.items():
        cells = (f"{row[stored]['per_second']:>12.0f}{common.ratio(row[stored]['per_second'], ours[stored]['per_second']):>9}"
                 for stored in ("0", str(STORED)))
        print(f"{name:<34}{''.join(cells)}")
    print(f"\n{'fastest, ms':<34}")
    for name, row in figures.items():
        cells = (f"{row[stored]['fastest_ms']:>12.2f}{common.ratio(row[stored]['fastest_ms'], ours[stored]['fastest_ms']):>9}"
                 for stored in ("0", str(STORED)))
        print(f"{name:<34}{''.join(cells)}")
    print(f"{'a write of 4 KiB and its sync':<34}{sync['per_second']:>12.0f}")


if __name__ == "__main__":
    main()
