-- The user can undo a redaction, which changes the text of a message. Everything derived from the text is made again.
DROP TRIGGER messages_are_written_once;

CREATE TRIGGER messages_keep_their_kind BEFORE UPDATE OF redacted, derived, role ON messages
BEGIN
    SELECT RAISE (ABORT, 'messages keep their kind');
END;

CREATE TRIGGER messages_text_update AFTER UPDATE OF content ON messages
WHEN old.redacted = 0 AND old.derived = 0 AND old.role <> 'tool'
BEGIN
    INSERT INTO messages_text (messages_text, rowid, content) VALUES ('delete', old.id, old.content);
    INSERT INTO messages_text (rowid, content) VALUES (new.id, new.content);
END;

CREATE TRIGGER changed_messages_leave_the_index AFTER UPDATE OF content ON messages
BEGIN
    UPDATE _deletions SET count = count + 1;
    DELETE FROM _index_segments WHERE kind = 'messages' AND old.id BETWEEN first_id AND last_id;
    DELETE FROM embeddings WHERE subject_kind = 'message' AND subject_id = old.id;
    DELETE FROM digests WHERE conversation_id = old.conversation_id;
END;
