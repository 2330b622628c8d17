-- Whether a message contains text that neither the user nor the model wrote: an attached file, piped text, or a tool's output.
-- Permissions depend on it, so it is stored and not derived from the text.
ALTER TABLE messages ADD COLUMN by_others INTEGER NOT NULL DEFAULT 0 CHECK (by_others IN (0, 1));

-- Until now it was derived from the text. Do that once more for what is stored already.
UPDATE messages SET by_others = 1
WHERE (role = 'user' AND instr(content, char(10) || '<file path="') > 0) OR (role = 'tool' AND tool_name <> 'core_memory');
