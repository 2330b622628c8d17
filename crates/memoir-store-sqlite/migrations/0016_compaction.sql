-- Whether the user asked for the summary, so that the exchanges it covers never return to the window.
ALTER TABLE digests ADD COLUMN is_compact INTEGER NOT NULL DEFAULT 0;
