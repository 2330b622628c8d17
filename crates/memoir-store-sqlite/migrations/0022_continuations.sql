-- Keys by which programs that send a whole conversation with each request continue it. A key is a hash.
CREATE TABLE continuations (
    key         TEXT    PRIMARY KEY,
    exchange_id INTEGER NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX continuations_by_exchange ON continuations (exchange_id);

-- Deletions and other changes after which copies of texts must be dropped, apart from those counted already.
ALTER TABLE _deletions ADD COLUMN others INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER deleted_documents_are_counted AFTER DELETE ON documents
BEGIN
    UPDATE _deletions SET others = others + 1;
END;

CREATE TRIGGER unshared_conversations_are_counted AFTER UPDATE OF shared ON conversations WHEN old.shared AND NOT new.shared
BEGIN
    UPDATE _deletions SET others = others + 1;
END;

CREATE TRIGGER unshared_documents_are_counted AFTER UPDATE OF shared ON documents WHEN old.shared AND NOT new.shared
BEGIN
    UPDATE _deletions SET others = others + 1;
END;
