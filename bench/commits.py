#!/usr/bin/env python3
"""Exchanges committed a second, by the median, each in a transaction of its own that is on disk when it returns.

    python commits.py [--count 1000]

An exchange is what `memoir-store-sqlite` writes for one: a row in `exchanges`, two in `messages`, one in `costs`, and the conversation
touched. Ours is the bench of that crate; DuckDB and Python's own SQLite write the same columns. SQLite is measured twice: with
the rows alone, and with the indices and the full text that Memoir keeps too. DuckDB has no full text that follows its rows.
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

HELD = 100_000
TABLES = {
    "conversations": "id, title, scope, model, created, updated",
    "exchanges": "id, conversation_id, status, started, completed, user_message, assistant_message, model, input_tokens, "
                 "output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost, tool_call_count, request_count",
    "messages": "id, exchange_id, conversation_id, role, content, redacted, derived, tokens, created",
    "costs": "id, conversation_id, exchange_id, purpose, model, input_tokens, output_tokens, cached_tokens, "
             "cache_write_tokens, reasoning_tokens, cost, created",
}
TEXTS = {"title", "scope", "model", "status", "user_message", "assistant_message", "role", "content", "purpose"}
INDICES = ["conversations (scope, updated)", "conversations (updated)", "exchanges (conversation_id, id)",
           "messages (exchange_id, id)", "messages (conversation_id, id)", "costs (created)", "costs (conversation_id)",
           "costs (exchange_id)"]
FULL_TEXT = """
    CREATE VIRTUAL TABLE messages_text USING fts5 (content, content = 'messages', content_rowid = 'id',
                                                   tokenize = 'porter unicode61 remove_diacritics 2');
    CREATE TRIGGER messages_text_insert AFTER INSERT ON messages BEGIN
        INSERT INTO messages_text (rowid, content) VALUES (new.id, new.content);
    END"""


def schema(integer, text):
    for table, columns in TABLES.items():
        typed = [f"{column} {text if column in TEXTS else integer}" for column in columns.split(", ")]
        yield f"CREATE TABLE {table} ({typed[0]} PRIMARY KEY, {', '.join(typed[1:])})"


def exchange(number):
    """The rows of one, by table."""
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
    for table, row in exchange(number):
        database.execute(INSERT[table], row)
    database.execute("COMMIT")


def measure(database, held, count):
    database.execute(INSERT["conversations"], (1, "bench", "/bench", "test/model", 0, 0))
    by_table = {}
    for number in range(1, held // 2 + 1):
        for table, row in exchange(number):
            by_table.setdefault(table, []).append(row)
    database.execute("BEGIN")
    for table, rows in by_table.items():
        if isinstance(database, duckdb.DuckDBPyConnection):
            fill(database, table, rows)
        else:
            database.executemany(INSERT[table], rows)
    database.execute("COMMIT")
    times, used = [], time.process_time()
    for number in range(held // 2 + 1, held // 2 + 1 + count):
        started = time.perf_counter()
        commit(database, number)
        times.append(1000 * (time.perf_counter() - started))
    used = 1000 * (time.process_time() - used) / count
    database.close()
    median = common.percentile(times, 0.5)
    return {"fastest_ms": min(times), "median_ms": median, "mean_ms": sum(times) / count, "cpu_ms": used,
            "per_second": 1000 / median, "count": count}


def fill(database, table, rows):
    """DuckDB takes a row at a time only slowly."""
    import pyarrow
    columns = TABLES[table].split(", ")
    held = pyarrow.table({column: [row[place] for row in rows] for place, column in enumerate(columns)})
    database.register("held", held)
    database.execute(f"INSERT INTO {table} SELECT * FROM held")
    database.unregister("held")


def open_duckdb(folder):
    database = duckdb.connect(str(folder / "talk.duckdb"))
    for statement in schema("BIGINT", "VARCHAR"):
        database.execute(statement)
    return database


def open_sqlite(folder, whole):
    database = sqlite3.connect(folder / "talk.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    for statement in schema("INTEGER", "TEXT"):
        database.execute(statement)
    if whole:
        for number, index in enumerate(INDICES):
            database.execute(f"CREATE INDEX index_{number} ON {index}")
        database.executescript(FULL_TEXT)
    return database


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+) (\S+)", text.strip()).groups()
    return float(number) * {"ns": 1e-6, "µs": 1e-3, "us": 1e-3, "ms": 1, "s": 1000}[unit]


def ours():
    """The figures of our bench: its columns are fastest, slowest, median, mean, samples, iterations."""
    if "COMMITS" in os.environ:
        said = subprocess.run([os.environ["COMMITS"], "--bench"], check=True, stdout=subprocess.PIPE, text=True).stdout
    else:
        said = common.cargo("bench", "-p", "memoir-store-sqlite", "--bench", "commit")
    rows = {}
    for line in said.splitlines():
        cells = [cell.strip() for cell in line.lstrip("│├╰─ ").split("│")]
        name = re.match(r"(\w+)\s+([\d.]+ \S+)$", cells[0])
        if name and len(cells) >= 5:
            median = milliseconds(cells[2])
            rows[name[1]] = {"fastest_ms": milliseconds(name[2]), "median_ms": median, "mean_ms": milliseconds(cells[3]),
                             "per_second": 1000 / median, "count": int(cells[4])}
    return {"0": rows["0"], str(HELD): rows[str(HELD)]}, rows["sync_of_the_disk"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    mine, sync = ours()
    figures = {"Memoir": mine}
    opened = {"SQLite, rows alone": lambda folder: open_sqlite(folder, False),
              "SQLite, indices and full text": lambda folder: open_sqlite(folder, True), "DuckDB": open_duckdb}
    for name, opener in opened.items():
        for held in (0, HELD):
            with tempfile.TemporaryDirectory() as folder:
                figures.setdefault(name, {})[str(held)] = measure(opener(Path(folder)), held, count)
    versions = {"DuckDB": duckdb.__version__, "SQLite": sqlite3.sqlite_version}
    common.save("commits", {"figures": figures, "sync_of_the_disk": sync, "versions": versions})
    print(f"{'messages held':<34}{'0':>12}{'x ours':>9}{HELD:>12,}{'x ours':>9}    exchanges a second")
    for name, row in figures.items():
        cells = (f"{row[held]['per_second']:>12.0f}{common.ratio(row[held]['per_second'], mine[held]['per_second']):>9}"
                 for held in ("0", str(HELD)))
        print(f"{name:<34}{''.join(cells)}")
    print(f"\n{'the fastest, ms':<34}")
    for name, row in figures.items():
        cells = (f"{row[held]['fastest_ms']:>12.2f}{common.ratio(row[held]['fastest_ms'], mine[held]['fastest_ms']):>9}"
                 for held in ("0", str(HELD)))
        print(f"{name:<34}{''.join(cells)}")
    print(f"{'a write of 4 KiB and its sync':<34}{sync['per_second']:>12.0f}")


if __name__ == "__main__":
    main()
