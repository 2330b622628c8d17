-- What was added from memory to prompts of other programs. The quoted texts are not repeated here, so that deleting
-- them leaves no copy.
CREATE TABLE injections (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    program TEXT    NOT NULL,
    session TEXT    NOT NULL,
    scope   TEXT    NOT NULL,
    event   TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT;

CREATE INDEX injections_by_scope ON injections (scope, id);

CREATE TABLE injected_items (
    injection_id INTEGER NOT NULL REFERENCES injections (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    exchange_id  INTEGER REFERENCES exchanges (id) ON DELETE CASCADE,
    document_id  INTEGER REFERENCES documents (id) ON DELETE CASCADE,
    reason       TEXT    NOT NULL,
    tokens       INTEGER NOT NULL,
    PRIMARY KEY (injection_id, position),
    CHECK ((exchange_id IS NULL) <> (document_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX injected_items_by_exchange ON injected_items (exchange_id) WHERE exchange_id IS NOT NULL;
CREATE INDEX injected_items_by_document ON injected_items (document_id) WHERE document_id IS NOT NULL;

-- States of files of other programs that were imported, so that unchanged files are not read again.
CREATE TABLE transcripts (
    path     TEXT    PRIMARY KEY,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The latest message that was imported, which tells new messages from old ones in a file that was rewritten.
ALTER TABLE imports ADD COLUMN through_time INTEGER;

-- Imported conversations that were forgotten as a whole, so that following their files does not bring them back. Only
-- a hash of the origin is kept, because it may contain the name of a chat.
CREATE TABLE forgotten_imports (
    origin_hash TEXT    PRIMARY KEY,
    forgotten   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
