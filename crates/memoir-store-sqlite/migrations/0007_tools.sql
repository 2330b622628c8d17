-- Who may do what, and which secrets were taken out of what is kept.

-- What is always allowed, or never. Those of a project stand under its scope, the others under ''.
CREATE TABLE approval_rules (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    effect  TEXT    NOT NULL CHECK (effect IN ('allow', 'deny')),
    rule    TEXT    NOT NULL,
    scope   TEXT    NOT NULL,
    created INTEGER NOT NULL,
    UNIQUE (scope, effect, rule)
) STRICT;

-- What was taken out, and where it stood: never the secret itself.
CREATE TABLE redactions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    exchange_id INTEGER REFERENCES exchanges (id) ON DELETE CASCADE,
    place       TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    created     INTEGER NOT NULL
) STRICT;

CREATE INDEX redactions_by_exchange ON redactions (exchange_id);
