-- The program that an exchange took place in, and its session there. NULL means Memoir itself.
ALTER TABLE exchanges ADD COLUMN program TEXT;
ALTER TABLE exchanges ADD COLUMN session TEXT;

-- An origin is the name of the program, a slash and the session.
UPDATE exchanges
SET program = substr(origin, 1, instr(origin, '/') - 1), session = substr(origin, instr(origin, '/') + 1)
FROM imports
WHERE imports.conversation_id = exchanges.conversation_id AND exchanges.id <= through_exchange AND instr(origin, '/') > 1;

CREATE INDEX exchanges_by_program ON exchanges (program, conversation_id) WHERE program IS NOT NULL;
