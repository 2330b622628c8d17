-- Whether programs that work for one project may see a conversation or a document of another one.
ALTER TABLE conversations ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));
ALTER TABLE documents ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));

CREATE INDEX conversations_shared ON conversations (id) WHERE shared;
