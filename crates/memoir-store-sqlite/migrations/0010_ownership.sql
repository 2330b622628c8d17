-- What the user makes of his memory: marks on exchanges, and conversations that branch off others.

CREATE TABLE marks (
    exchange_id INTEGER NOT NULL PRIMARY KEY REFERENCES exchanges (id) ON DELETE CASCADE,
    mark        TEXT    NOT NULL CHECK (mark IN ('pinned', 'wrong')),
    created     INTEGER NOT NULL
) STRICT;

-- A fork begins with what its parent said up to an exchange. Nothing is copied: what is forgotten there is forgotten here.
ALTER TABLE conversations ADD COLUMN forked_from INTEGER REFERENCES conversations (id) ON DELETE SET NULL;
ALTER TABLE conversations ADD COLUMN forked_through INTEGER;
CREATE INDEX conversations_by_parent ON conversations (forked_from) WHERE forked_from IS NOT NULL;

-- A digest goes with what it tells of, and no other. Whose parent a fork has, and his, cannot be asked in a trigger: the digests of
-- all forks go, and are made anew.
DROP TRIGGER digests_go_with_what_they_tell;
CREATE TRIGGER digests_go_with_what_they_tell AFTER DELETE ON messages
BEGIN
    DELETE FROM digests
    WHERE max(through_exchange, coalesce(next_through, 0), coalesce(wanted_through, 0)) >= old.exchange_id
      AND (conversation_id = old.conversation_id
           OR conversation_id IN (SELECT id FROM conversations WHERE forked_from IS NOT NULL));
END;
