-- Work on anything, and vectors of summaries.

-- What is worked on is told by its kind and its id.
DROP TRIGGER summaries_go_with_what_they_tell;
DROP TRIGGER work_goes_with_its_conversation;
DROP INDEX jobs_by_due;
ALTER TABLE jobs RENAME TO _earlier_jobs;

CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    worker       TEXT    NOT NULL,
    subject_kind TEXT    NOT NULL,
    subject_id   INTEGER NOT NULL,
    -- What was given up is not looked for any more, until something about it changes.
    state        TEXT    NOT NULL CHECK (state IN ('waiting', 'failed', 'given_up')),
    attempts     INTEGER NOT NULL,
    -- Not before this moment.
    due          INTEGER NOT NULL,
    last_error   TEXT,
    -- Who is at it, and until when he is believed to be.
    leased_by    TEXT,
    leased_till  INTEGER,
    updated      INTEGER NOT NULL,
    UNIQUE (subject_kind, subject_id, worker)
) STRICT;

INSERT INTO jobs (id, worker, subject_kind, subject_id, state, attempts, due, last_error, leased_by, leased_till, updated)
SELECT id, worker, iif(worker = 'exchange_summarizer', 'exchange', 'conversation'), subject_id, state, attempts, due,
       last_error, leased_by, leased_till, updated
FROM _earlier_jobs;
DROP TABLE _earlier_jobs;

CREATE INDEX jobs_by_due ON jobs (worker, state, due);

-- Whether a conversation has grown since its summary, if it has one: found without looking at all of them.
ALTER TABLE conversations ADD COLUMN summary_due INTEGER NOT NULL DEFAULT 0 CHECK (summary_due IN (0, 1));
UPDATE conversations SET summary_due = EXISTS (
    SELECT 1 FROM exchanges
    WHERE conversation_id = conversations.id AND status = 'completed' AND id > coalesce(summary_through, 0));
CREATE INDEX conversations_without_summary ON conversations (updated) WHERE summary_due = 1;
CREATE INDEX conversations_with_extract ON conversations (updated) WHERE summary_by = 'extract';

CREATE TRIGGER a_conversation_that_grew_is_summarised_again AFTER INSERT ON exchanges WHEN new.status = 'completed'
BEGIN
    UPDATE conversations SET summary_due = 1 WHERE id = new.conversation_id;
    -- What failed before may succeed with more to tell.
    DELETE FROM jobs WHERE subject_kind = 'conversation' AND subject_id = new.conversation_id
        AND worker = 'conversation_summarizer' AND state <> 'waiting';
END;

-- The summary that a conversation should have ready for when its window moves: up to which exchange.
ALTER TABLE digests ADD COLUMN wanted_through INTEGER;
CREATE INDEX digests_wanted ON digests (updated) WHERE wanted_through IS NOT NULL;

-- Vectors of summaries; like those of messages, but of what changes.
CREATE TABLE summary_embeddings (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_kind    TEXT    NOT NULL CHECK (subject_kind IN ('exchange', 'conversation')),
    subject_id      INTEGER NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    model           TEXT    NOT NULL,
    dimensions      INTEGER NOT NULL,
    vector          BLOB    NOT NULL,
    UNIQUE (subject_kind, subject_id, model)
) STRICT;

CREATE INDEX summary_embeddings_by_conversation ON summary_embeddings (conversation_id);

-- Those of a message are deleted with it, without looking at all.
CREATE INDEX embeddings_by_subject ON embeddings (subject_id);

-- How many summaries there are is counted without reading them.
CREATE INDEX exchanges_with_summary ON exchanges (id) WHERE summary IS NOT NULL;
CREATE INDEX conversations_with_summary ON conversations (id) WHERE summary IS NOT NULL;

-- A vector goes with its summary, also when that is written anew.
CREATE TRIGGER exchange_vectors_go_with_their_summary AFTER UPDATE OF summary ON exchanges
BEGIN
    DELETE FROM summary_embeddings WHERE subject_kind = 'exchange' AND subject_id = old.id;
END;
CREATE TRIGGER conversation_vectors_go_with_their_summary AFTER UPDATE OF summary ON conversations
BEGIN
    DELETE FROM summary_embeddings WHERE subject_kind = 'conversation' AND subject_id = old.id;
END;

-- A summary goes with the first exchange it tells of that is deleted, vectors and work with what they are about.
CREATE TRIGGER summaries_go_with_what_they_tell AFTER DELETE ON exchanges
BEGIN
    UPDATE conversations SET summary = NULL, summary_by = NULL, summary_through = NULL
    WHERE id = old.conversation_id AND summary_through >= old.id;
    UPDATE conversations SET summary_due = EXISTS (
        SELECT 1 FROM exchanges
        WHERE conversation_id = conversations.id AND status = 'completed' AND id > coalesce(summary_through, 0))
    WHERE id = old.conversation_id;
    DELETE FROM summary_embeddings WHERE subject_kind = 'exchange' AND subject_id = old.id;
    DELETE FROM jobs WHERE subject_kind = 'exchange' AND subject_id = old.id;
END;
CREATE TRIGGER work_goes_with_its_conversation AFTER DELETE ON conversations
BEGIN
    DELETE FROM jobs WHERE subject_kind IN ('conversation', 'digest') AND subject_id = old.id;
END;
CREATE TRIGGER work_goes_with_its_message AFTER DELETE ON messages
BEGIN
    DELETE FROM jobs WHERE subject_kind = 'message' AND subject_id = old.id;
END;

-- Segments of summaries' vectors too. Their deletions are counted apart: summaries are written anew all the time, and
-- what is known of messages stays true then.
DROP TRIGGER deleted_messages_leave_the_index;
DROP TRIGGER deleted_embeddings_leave_the_index;
DROP INDEX index_segments_by_place;
ALTER TABLE _index_segments RENAME TO _earlier_segments;
CREATE TABLE _index_segments (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL CHECK (kind IN ('messages', 'vectors', 'summaries')),
    -- Of vectors: whose, and of what length. Of messages: empty.
    model    TEXT    NOT NULL,
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data     BLOB    NOT NULL
) STRICT;
INSERT INTO _index_segments SELECT * FROM _earlier_segments;
DROP TABLE _earlier_segments;
CREATE UNIQUE INDEX index_segments_by_place ON _index_segments (kind, model, first_id, last_id);

CREATE TRIGGER deleted_messages_leave_the_index AFTER DELETE ON messages
BEGIN
    UPDATE _deletions SET count = count + 1;
    DELETE FROM _index_segments WHERE kind = 'messages' AND old.id BETWEEN first_id AND last_id;
END;
CREATE TRIGGER deleted_embeddings_leave_the_index AFTER DELETE ON embeddings
BEGIN
    DELETE FROM _index_segments
    WHERE kind = 'vectors' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;

ALTER TABLE _deletions ADD COLUMN summaries INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER deleted_summaries_leave_the_index AFTER DELETE ON summary_embeddings
BEGIN
    UPDATE _deletions SET summaries = summaries + 1;
    DELETE FROM _index_segments
    WHERE kind = 'summaries' AND model = old.model || '#' || old.dimensions AND old.id BETWEEN first_id AND last_id;
END;
