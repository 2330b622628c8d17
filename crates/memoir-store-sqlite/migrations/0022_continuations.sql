-- Keys by which programs that send a whole conversation with each request continue it. A key is a hash.
CREATE TABLE continuations (
    key         TEXT    PRIMARY KEY,
    exchange_id INTEGER NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX continuations_by_exchange ON continuations (exchange_id);
