-- What a conversation has cost so far, added up as calls come in: to tell it must not take longer with every turn.
CREATE TABLE _conversation_costs (
    conversation_id    INTEGER NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    calls              INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost               INTEGER NOT NULL,
    unpriced_calls     INTEGER NOT NULL
) STRICT;

INSERT INTO _conversation_costs
SELECT conversation_id, count(*), sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(cache_write_tokens),
       sum(reasoning_tokens), coalesce(sum(cost), 0), count(*) - count(cost)
FROM costs WHERE conversation_id IS NOT NULL GROUP BY conversation_id;

-- A sum that would be more than a number can hold stays at the most that one can: no exchange is lost for its bill.
CREATE TRIGGER costs_add_up AFTER INSERT ON costs WHEN new.conversation_id IS NOT NULL
BEGIN
    INSERT INTO _conversation_costs
    VALUES (new.conversation_id, 1, new.input_tokens, new.output_tokens, new.cached_tokens, new.cache_write_tokens,
            new.reasoning_tokens, coalesce(new.cost, 0), new.cost IS NULL)
    ON CONFLICT (conversation_id) DO UPDATE SET
        calls = calls + 1,
        input_tokens = min(input_tokens + excluded.input_tokens, 9223372036854775807),
        output_tokens = min(output_tokens + excluded.output_tokens, 9223372036854775807),
        cached_tokens = min(cached_tokens + excluded.cached_tokens, 9223372036854775807),
        cache_write_tokens = min(cache_write_tokens + excluded.cache_write_tokens, 9223372036854775807),
        reasoning_tokens = min(reasoning_tokens + excluded.reasoning_tokens, 9223372036854775807),
        cost = min(cost + excluded.cost, 9223372036854775807),
        unpriced_calls = unpriced_calls + excluded.unpriced_calls;
END;

-- A row for each time that text was deleted, until nothing is left of it in unused parts of the file.
CREATE TABLE _traces (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;

-- The last exchange that was brought in: what comes after it was said here.
ALTER TABLE imports ADD COLUMN through_exchange INTEGER;
UPDATE imports SET through_exchange = (SELECT max(id) FROM exchanges WHERE conversation_id = imports.conversation_id);
