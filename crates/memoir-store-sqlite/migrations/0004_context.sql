-- What goes into every request besides the talk itself.

-- A few short texts that are always in context. Those about a project stand under its scope, the others under ''.
CREATE TABLE core_memory (
    scope   TEXT    NOT NULL,
    block   TEXT    NOT NULL CHECK (block IN ('user', 'project', 'instructions')),
    content TEXT    NOT NULL,
    -- Counts changes: whoever writes says which state he has seen.
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (scope, block)
) STRICT, WITHOUT ROWID;

-- The last changes of each block, so that they can be undone.
CREATE TABLE core_memory_changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    scope      TEXT    NOT NULL,
    block      TEXT    NOT NULL,
    before     TEXT    NOT NULL,
    after      TEXT    NOT NULL,
    changed_by TEXT    NOT NULL CHECK (changed_by IN ('user', 'model')),
    created    INTEGER NOT NULL
) STRICT;

CREATE INDEX core_memory_changes_by_block ON core_memory_changes (scope, block, id);

-- What has left a conversation's window: up to which exchange, and what is sent in its place. It is derived, and goes
-- with the first exchange that is deleted.
CREATE TABLE digests (
    conversation_id  INTEGER NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    through_exchange INTEGER NOT NULL,
    summary          TEXT    NOT NULL,
    -- Instructions of the user's, word by word: a JSON list.
    pinned           TEXT    NOT NULL,
    -- The summary for when the window moves on, made beforehand.
    next_through     INTEGER,
    next_summary     TEXT,
    updated          INTEGER NOT NULL,
    CHECK ((next_through IS NULL) = (next_summary IS NULL))
) STRICT;

CREATE TRIGGER digests_go_with_what_they_tell AFTER DELETE ON messages
BEGIN
    DELETE FROM digests WHERE conversation_id = old.conversation_id;
END;
