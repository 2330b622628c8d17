-- What was said, in short, and the work that makes it.

-- By whom a summary was written: a model's name, or 'extract' where it was made of quotations.
ALTER TABLE exchanges ADD COLUMN summary TEXT;
ALTER TABLE exchanges ADD COLUMN summary_by TEXT;
ALTER TABLE conversations ADD COLUMN summary TEXT;
ALTER TABLE conversations ADD COLUMN summary_by TEXT;
-- The last exchange that the summary tells of.
ALTER TABLE conversations ADD COLUMN summary_through INTEGER;

-- What waits for a summary is found without reading all.
CREATE INDEX exchanges_without_summary ON exchanges (completed) WHERE summary IS NULL AND status = 'completed';
CREATE INDEX exchanges_with_extract ON exchanges (completed) WHERE summary_by = 'extract';

-- Work that is being done, has failed before, or has failed for good. Work that nothing is known of yet has no row.
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    worker      TEXT    NOT NULL,
    -- What is worked on: an exchange, a conversation, or for vectors the first of a batch.
    subject_id  INTEGER NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('waiting', 'failed')),
    attempts    INTEGER NOT NULL,
    -- Not before this moment.
    due         INTEGER NOT NULL,
    last_error  TEXT,
    -- Who is at it, and until when he is believed to be.
    leased_by   TEXT,
    leased_till INTEGER,
    updated     INTEGER NOT NULL,
    UNIQUE (worker, subject_id)
) STRICT;

CREATE INDEX jobs_by_due ON jobs (worker, state, due);

-- A summary goes with the first exchange it tells of that is deleted, and work goes with what is worked on.
CREATE TRIGGER summaries_go_with_what_they_tell AFTER DELETE ON exchanges
BEGIN
    UPDATE conversations SET summary = NULL, summary_by = NULL, summary_through = NULL
    WHERE id = old.conversation_id AND summary_through >= old.id;
    DELETE FROM jobs WHERE worker = 'exchange_summarizer' AND subject_id = old.id;
END;

CREATE TRIGGER work_goes_with_its_conversation AFTER DELETE ON conversations
BEGIN
    DELETE FROM jobs WHERE worker = 'conversation_summarizer' AND subject_id = old.id;
END;
