-- Documents: texts that the user gave to remember, and posts that were written from talk; stored as chunks.

CREATE TABLE documents (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    slug    TEXT    NOT NULL UNIQUE,
    title   TEXT    NOT NULL,
    -- A day, as in 2026-05-01.
    date    TEXT    NOT NULL,
    -- A JSON list.
    tags    TEXT    NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('file', 'post')),
    -- The file that it is in.
    source  TEXT    NOT NULL UNIQUE,
    -- Of the file, byte by byte: what has not changed need not be read again.
    hash    TEXT    NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;

-- What was taken out of a document goes with it.
ALTER TABLE redactions ADD COLUMN document_id INTEGER REFERENCES documents (id) ON DELETE CASCADE;
CREATE INDEX redactions_by_document ON redactions (document_id) WHERE document_id IS NOT NULL;

CREATE INDEX documents_by_hash ON documents (hash);

-- What a post was written from.
CREATE TABLE post_sources (
    document_id     INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    PRIMARY KEY (document_id, conversation_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX post_sources_by_conversation ON post_sources (conversation_id);

CREATE TABLE chunks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    text        TEXT    NOT NULL,
    -- So many bytes at its beginning are the end of the chunk before.
    overlap     INTEGER NOT NULL,
    tokens      INTEGER NOT NULL
) STRICT;

CREATE INDEX chunks_by_document ON chunks (document_id, position);

CREATE VIRTUAL TABLE chunks_text USING fts5 (
    text,
    content = 'chunks',
    content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO chunks_text (chunks_text, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE _chunk_words USING fts5vocab (chunks_text, 'instance');

CREATE TRIGGER chunks_text_insert AFTER INSERT ON chunks
BEGIN
    INSERT INTO chunks_text (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER chunks_text_delete AFTER DELETE ON chunks
BEGIN
    INSERT INTO chunks_text (chunks_text, rowid, text) VALUES ('delete', old.id, old.text);
    DELETE FROM jobs WHERE subject_kind = 'chunk' AND subject_id = old.id;
END;
CREATE TRIGGER chunks_are_written_once BEFORE UPDATE OF text ON chunks
BEGIN
    SELECT RAISE (ABORT, 'chunks are written once');
END;

-- A model reads a chunk in parts of the length that it takes; a vector each, all of them or none.
CREATE TABLE chunk_embeddings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id   INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    part       INTEGER NOT NULL,
    -- Where the part stands in the chunk's text, in bytes.
    first      INTEGER NOT NULL,
    past       INTEGER NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    vector     BLOB    NOT NULL,
    UNIQUE (chunk_id, model, part)
) STRICT;

-- How many chunks have vectors is counted without looking at all of them.
CREATE INDEX embedded_chunks ON chunk_embeddings (model) WHERE part = 0;

-- Segments of them too.
DROP TRIGGER deleted_messages_leave_the_index;
DROP TRIGGER deleted_embeddings_leave_the_index;
DROP TRIGGER deleted_summaries_leave_the_index;
DROP INDEX index_segments_by_place;
ALTER TABLE _index_segments RENAME TO _earlier_segments;
CREATE TABLE _index_segments (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL CHECK (kind IN ('messages', 'vectors', 'summaries', 'chunks')),
    -- Of vectors: whose, and of what length. Of messages: empty.
    model    TEXT    NOT NULL,
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data     BLOB    NOT NULL
) STRICT;
INSERT INTO _index_segments SELECT * FROM _earlier_segments;
DROP TABLE _earlier_segments;
CREATE UNIQUE INDEX index_segments_by_place ON _index_segments (kind, model, first_id, last_id);

CREATE TRIGGER deleted_messages_leave_the_index AFTER DELETE ON messages
BEGIN
    UPDATE _deletions SET count = count + 1;
    DELETE FROM _index_segments WHERE kind = 'messages' AND old.id BETWEEN first_id AND last_id;
END;
CREATE TRIGGER deleted_embeddings_leave_the_index AFTER DELETE ON embeddings
BEGIN
    DELETE FROM _index_segments
    WHERE kind = 'vectors' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;
CREATE TRIGGER deleted_summaries_leave_the_index AFTER DELETE ON summary_embeddings
BEGIN
    UPDATE _deletions SET summaries = summaries + 1;
    DELETE FROM _index_segments
    WHERE kind = 'summaries' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;

ALTER TABLE _deletions ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER deleted_chunks_leave_the_index AFTER DELETE ON chunk_embeddings
BEGIN
    UPDATE _deletions SET chunks = chunks + 1;
    DELETE FROM _index_segments
    WHERE kind = 'chunks' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;

-- Documents are recalled too.
DROP INDEX recall_log_by_exchange;
DROP INDEX recall_log_by_message;
ALTER TABLE recall_log RENAME TO _earlier_recall_log;
CREATE TABLE recall_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    exchange_id INTEGER NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE,
    message_id  INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    chunk_id    INTEGER REFERENCES chunks (id) ON DELETE CASCADE,
    score       REAL    NOT NULL,
    reason      TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,
    CHECK ((message_id IS NULL) <> (chunk_id IS NULL))
) STRICT;
INSERT INTO recall_log (id, exchange_id, message_id, score, reason, tokens) SELECT * FROM _earlier_recall_log;
DROP TABLE _earlier_recall_log;
CREATE INDEX recall_log_by_exchange ON recall_log (exchange_id);
CREATE INDEX recall_log_by_message ON recall_log (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX recall_log_by_chunk ON recall_log (chunk_id) WHERE chunk_id IS NOT NULL;

-- How much of what stands elsewhere was brought here, so that nothing is brought twice.
CREATE TABLE imports (
    -- Where it comes from: the program, the talk, the day.
    origin          TEXT    PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- So many messages of it, and a sum over them.
    messages        INTEGER NOT NULL,
    checksum        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX imports_by_conversation ON imports (conversation_id);
