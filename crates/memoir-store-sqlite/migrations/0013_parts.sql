-- A long message has several embeddings, one for each part that the model can read, like a chunk.
DROP TRIGGER embeddings_go_with_their_message;
DROP TRIGGER deleted_embeddings_are_counted;
DROP TRIGGER deleted_embeddings_leave_the_index;
DROP INDEX embeddings_by_conversation;
DROP INDEX embeddings_by_subject;
ALTER TABLE embeddings RENAME TO _earlier_embeddings;
CREATE TABLE embeddings (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_kind    TEXT    NOT NULL CHECK (subject_kind IN ('message')),
    subject_id      INTEGER NOT NULL,
    part            INTEGER NOT NULL,
    -- Position of the part in the message's text, in bytes.
    first           INTEGER NOT NULL,
    past            INTEGER NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    model           TEXT    NOT NULL,
    dimensions      INTEGER NOT NULL,
    vector          BLOB    NOT NULL,
    UNIQUE (model, subject_kind, subject_id, part)
) STRICT;

-- Of longer messages, only the start was read. They are embedded again.
INSERT INTO embeddings
SELECT earlier.id, 'message', subject_id, 0, 0, octet_length(content), earlier.conversation_id, earlier.model, dimensions, vector
FROM _earlier_embeddings AS earlier JOIN messages ON messages.id = subject_id
WHERE messages.tokens <= 180;
DROP TABLE _earlier_embeddings;
DELETE FROM _index_segments WHERE kind = 'vectors';
UPDATE _deletions SET count = count + 1;

CREATE INDEX embeddings_by_conversation ON embeddings (conversation_id);
CREATE INDEX embeddings_by_subject ON embeddings (subject_id);
-- How many messages have embeddings is counted without looking at all of them.
CREATE INDEX embedded_messages ON embeddings (model) WHERE part = 0;

CREATE TRIGGER embeddings_go_with_their_message AFTER DELETE ON messages
BEGIN
    DELETE FROM embeddings WHERE subject_kind = 'message' AND subject_id = old.id;
END;
CREATE TRIGGER deleted_embeddings_are_counted AFTER DELETE ON embeddings
BEGIN
    UPDATE _deletions SET count = count + 1;
END;
CREATE TRIGGER deleted_embeddings_leave_the_index AFTER DELETE ON embeddings
BEGIN
    DELETE FROM _index_segments
    WHERE kind = 'vectors' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;
