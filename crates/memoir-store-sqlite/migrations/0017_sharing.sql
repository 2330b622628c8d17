-- Whether programs that work for one project may see a conversation or a document of another one.
ALTER TABLE conversations ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));
ALTER TABLE documents ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));

-- The project of a file. NULL until it is determined, because that needs the file system.
ALTER TABLE documents ADD COLUMN project TEXT;

CREATE INDEX conversations_shared ON conversations (id) WHERE shared;
