-- The ground floor: conversations, their exchanges and messages, and what surrounds them.
--
-- Keys are AUTOINCREMENT: never reused, so that an id seen once means one thing for ever.
-- Times are milliseconds since 1970 in UTC. Costs are nano-dollars; NULL means the price is not known.

CREATE TABLE conversations (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    title   TEXT    NOT NULL,
    status  TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active')),
    scope   TEXT    NOT NULL,
    model   TEXT    NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;

CREATE INDEX conversations_by_scope ON conversations (scope, updated);
CREATE INDEX conversations_by_update ON conversations (updated);

CREATE TABLE exchanges (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id    INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    status             TEXT    NOT NULL CHECK (status IN ('completed', 'stopped')),
    started            INTEGER NOT NULL,
    completed          INTEGER NOT NULL,
    user_message       TEXT    NOT NULL,
    assistant_message  TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost               INTEGER,
    tool_call_count    INTEGER NOT NULL,
    request_count      INTEGER NOT NULL,
    error              TEXT
) STRICT;

CREATE INDEX exchanges_by_conversation ON exchanges (conversation_id, id);

CREATE TABLE messages (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    exchange_id     INTEGER NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    role            TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    author          TEXT,
    content         TEXT    NOT NULL,
    redacted        INTEGER NOT NULL CHECK (redacted IN (0, 1)),
    -- Text that the program made, of what memory already holds or as a notice. It must never be found again as
    -- if it had been said.
    derived         INTEGER NOT NULL CHECK (derived IN (0, 1)),
    tool_calls      TEXT,
    tool_call_id    TEXT,
    tool_name       TEXT,
    tokens          INTEGER NOT NULL,
    created         INTEGER NOT NULL,
    CHECK ((role = 'tool') = (tool_call_id IS NOT NULL AND tool_name IS NOT NULL)),
    CHECK (tool_calls IS NULL OR role = 'assistant')
) STRICT;

CREATE INDEX messages_by_exchange ON messages (exchange_id, id);
CREATE INDEX messages_by_conversation ON messages (conversation_id, id);

-- Full text over what was said: prompts and final answers, in the same transaction as the row.
CREATE VIRTUAL TABLE messages_text USING fts5 (
    content,
    content = 'messages',
    content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
-- Deleting a message must not leave its words behind in the index.
INSERT INTO messages_text (messages_text, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER messages_text_insert AFTER INSERT ON messages
WHEN new.redacted = 0 AND new.derived = 0 AND new.role <> 'tool'
BEGIN
    INSERT INTO messages_text (rowid, content) VALUES (new.id, new.content);
END;

CREATE TRIGGER messages_text_delete AFTER DELETE ON messages
WHEN old.redacted = 0 AND old.derived = 0 AND old.role <> 'tool'
BEGIN
    INSERT INTO messages_text (messages_text, rowid, content) VALUES ('delete', old.id, old.content);
END;

-- A message is written once. An update would have to keep the index in step; forbid it instead.
CREATE TRIGGER messages_are_written_once BEFORE UPDATE OF content, redacted, derived, role ON messages
BEGIN
    SELECT RAISE (ABORT, 'messages are written once');
END;

CREATE TABLE settings (
    key     TEXT    NOT NULL PRIMARY KEY,
    value   TEXT    NOT NULL,
    updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE command_history (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    line    TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT;

-- One row per call to a model. Deleting the talk keeps the bill.
CREATE TABLE costs (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id    INTEGER REFERENCES conversations (id) ON DELETE SET NULL,
    exchange_id        INTEGER REFERENCES exchanges (id) ON DELETE SET NULL,
    purpose            TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost               INTEGER,
    created            INTEGER NOT NULL
) STRICT;

CREATE INDEX costs_by_time ON costs (created);
CREATE INDEX costs_by_conversation ON costs (conversation_id);
CREATE INDEX costs_by_exchange ON costs (exchange_id);
