-- What searching needs of many messages, or of many vectors, packed: a process reads it in one go when it first
-- searches. All of it is derived. A segment goes with the first of its rows that is deleted, and what is left of
-- them is packed anew.
CREATE TABLE _index_segments (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL CHECK (kind IN ('messages', 'vectors')),
    -- Of vectors: whose, and of what length. Of messages: empty.
    model    TEXT    NOT NULL,
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data     BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX index_segments_by_place ON _index_segments (kind, model, first_id, last_id);

-- Deletions of either kind are counted, so that what is kept in memory notices them.
ALTER TABLE _deleted_embeddings RENAME TO _deletions;

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

-- Every occurrence of every stem: what BM25 counts.
CREATE VIRTUAL TABLE _message_words USING fts5vocab (messages_text, 'instance');
