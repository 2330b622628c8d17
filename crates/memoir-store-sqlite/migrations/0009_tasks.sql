-- Tasks that sub-agents do by themselves, and their runs.

CREATE TABLE tasks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    prompt          TEXT    NOT NULL,
    -- Again and again, or once.
    cron            TEXT,
    zone            TEXT,
    once            INTEGER,
    model           TEXT,
    scope           TEXT    NOT NULL,
    approval        TEXT    NOT NULL,
    -- A JSON list of rules.
    allow           TEXT    NOT NULL,
    timeout_seconds INTEGER NOT NULL,
    history         INTEGER NOT NULL,
    -- In nano-dollars.
    budget          INTEGER,
    paused          INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    next_due        INTEGER,
    created         INTEGER NOT NULL,
    CHECK ((cron IS NULL) <> (once IS NULL))
) STRICT;

CREATE INDEX tasks_by_due ON tasks (next_due) WHERE paused = 0 AND next_due IS NOT NULL;

CREATE TABLE runs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id       INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    scheduled_for INTEGER,
    started       INTEGER NOT NULL,
    ended         INTEGER,
    state         TEXT    NOT NULL CHECK (state IN ('running', 'done', 'failed', 'timed_out', 'cut_off', 'stopped')),
    report        TEXT    NOT NULL DEFAULT '',
    error         TEXT,
    cost          INTEGER,
    -- Who does it, and from when on it is believed to be over.
    owner         TEXT    NOT NULL,
    leased_till   INTEGER NOT NULL,
    seen          INTEGER NOT NULL DEFAULT 0 CHECK (seen IN (0, 1))
) STRICT;

CREATE INDEX runs_by_task ON runs (task_id, id);
-- A task does one thing at a time, and nothing twice.
CREATE UNIQUE INDEX one_run_at_a_time ON runs (task_id) WHERE state = 'running';
CREATE UNIQUE INDEX one_run_for_a_moment ON runs (task_id, scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX runs_unseen ON runs (id) WHERE seen = 0 AND state <> 'running';
