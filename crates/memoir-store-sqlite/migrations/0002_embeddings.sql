-- Vectors of what was said, and what recall put into which exchange.

-- A vector is half-precision numbers, little-endian, of length one. It goes with what it stands for.
CREATE TABLE embeddings (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_kind    TEXT    NOT NULL CHECK (subject_kind IN ('message')),
    subject_id      INTEGER NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    model           TEXT    NOT NULL,
    dimensions      INTEGER NOT NULL,
    vector          BLOB    NOT NULL,
    UNIQUE (model, subject_kind, subject_id)
) STRICT;

CREATE INDEX embeddings_by_conversation ON embeddings (conversation_id);

CREATE TRIGGER embeddings_go_with_their_message AFTER DELETE ON messages
BEGIN
    DELETE FROM embeddings WHERE subject_kind = 'message' AND subject_id = old.id;
END;

-- Counts deletions, so that what is kept in memory notices them.
CREATE TABLE _deleted_embeddings (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    count    INTEGER NOT NULL
) STRICT;
INSERT INTO _deleted_embeddings VALUES (1, 0);

CREATE TRIGGER deleted_embeddings_are_counted AFTER DELETE ON embeddings
BEGIN
    UPDATE _deleted_embeddings SET count = count + 1;
END;

-- Most talk has no names in it; those that it has are few.
CREATE INDEX messages_by_author ON messages (author) WHERE author IS NOT NULL;

CREATE TABLE recall_log (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    exchange_id     INTEGER NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE,
    message_id      INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    score           REAL    NOT NULL,
    reason          TEXT    NOT NULL,
    tokens          INTEGER NOT NULL
) STRICT;

CREATE INDEX recall_log_by_exchange ON recall_log (exchange_id);
CREATE INDEX recall_log_by_message ON recall_log (message_id);
