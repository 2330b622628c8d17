-- An answer counts as text by others if the model had read such text when it wrote the answer, because it may repeat what it
-- read. For answers that are stored already it is not known what the model had read: mark those of every conversation in
-- which there was such text.
UPDATE messages SET by_others = 1
WHERE role = 'assistant' AND by_others = 0 AND conversation_id IN (
    SELECT conversation_id FROM messages WHERE by_others = 1 OR author IS NOT NULL
    UNION
    SELECT exchanges.conversation_id FROM recall_log JOIN exchanges ON exchanges.id = recall_log.exchange_id
);
