-- Tokens that let programs reach the memory over the network. Only a hash of the secret is stored.
CREATE TABLE tokens (
    name    TEXT    PRIMARY KEY,
    hash    TEXT    NOT NULL UNIQUE,
    -- JSON: "all", or the projects.
    scope   TEXT    NOT NULL,
    -- JSON: a list of names.
    rights  TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
