-- made by llm 0.31.1 (conversations/responses) and then llm 0.36 (threads/turns/messages/parts) through their Python API,
-- times spread by hand, FTS tables, triggers and the message_tree view left out; the redacted reasoning part was added by hand.
-- NB message hashes are those llm computed, except that of the message with the added reasoning part.
PRAGMA foreign_keys=OFF;
BEGIN;
CREATE TABLE "_llm_migrations" (
   "name" TEXT PRIMARY KEY,
   "applied_at" TEXT
);
CREATE TABLE "conversations" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "model" TEXT
);
CREATE TABLE "attachments" (
   "id" TEXT PRIMARY KEY,
   "type" TEXT,
   "path" TEXT,
   "url" TEXT,
   "content" BLOB
);
CREATE TABLE "prompt_attachments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "attachment_id")
);
CREATE TABLE "schemas" (
   "id" TEXT PRIMARY KEY,
   "content" TEXT
);
CREATE TABLE "responses" (
   "id" TEXT PRIMARY KEY,
   "model" TEXT,
   "prompt" TEXT,
   "system" TEXT,
   "prompt_json" TEXT,
   "options_json" TEXT,
   "response" TEXT,
   "response_json" TEXT,
   "conversation_id" TEXT REFERENCES "conversations"("id"),
   "duration_ms" INTEGER,
   "datetime_utc" TEXT,
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id")
, "resolved_model" TEXT, "reasoning" TEXT);
CREATE TABLE "fragments" (
   "id" INTEGER PRIMARY KEY,
   "hash" TEXT,
   "content" TEXT,
   "datetime_utc" TEXT,
   "source" TEXT
);
CREATE TABLE "fragment_aliases" (
   "alias" TEXT PRIMARY KEY,
   "fragment_id" INTEGER REFERENCES "fragments"("id")
);
CREATE TABLE "prompt_fragments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "fragment_id", "order")
);
CREATE TABLE "system_fragments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "fragment_id", "order")
);
CREATE TABLE "tools" (
   "id" INTEGER PRIMARY KEY,
   "hash" TEXT,
   "name" TEXT,
   "description" TEXT,
   "input_schema" TEXT
, "plugin" TEXT);
CREATE TABLE "tool_responses" (
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "response_id" TEXT REFERENCES "responses"("id"),
   PRIMARY KEY ("tool_id", "response_id")
);
CREATE TABLE "tool_calls" (
   "id" INTEGER PRIMARY KEY,
   "response_id" TEXT REFERENCES "responses"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "name" TEXT,
   "arguments" TEXT,
   "tool_call_id" TEXT
);
CREATE TABLE "tool_instances" (
   "id" INTEGER PRIMARY KEY,
   "plugin" TEXT,
   "name" TEXT,
   "arguments" TEXT
);
CREATE TABLE "tool_results" (
   "id" INTEGER PRIMARY KEY,
   "response_id" TEXT REFERENCES "responses"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "name" TEXT,
   "output" TEXT,
   "tool_call_id" TEXT,
   "instance_id" INTEGER REFERENCES "tool_instances"("id")
, "exception" TEXT);
CREATE TABLE "tool_results_attachments" (
   "tool_result_id" INTEGER REFERENCES "tool_results"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("tool_result_id", "attachment_id")
);
CREATE TABLE "messages" (
   "hash" TEXT PRIMARY KEY,
   "parent_hash" TEXT REFERENCES "messages"("hash"),
   "role" TEXT,
   "provider_metadata" TEXT
);
CREATE TABLE "parts" (
   "id" INTEGER PRIMARY KEY,
   "message_hash" TEXT REFERENCES "messages"("hash"),
   "position" INTEGER,
   "type" TEXT,
   "tool_name" TEXT,
   "text" TEXT,
   "payload" TEXT
);
CREATE TABLE "part_attachments" (
   "part_id" INTEGER REFERENCES "parts"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("part_id", "attachment_id", "order")
);
CREATE TABLE "part_fragments" (
   "part_id" INTEGER REFERENCES "parts"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("part_id", "fragment_id", "order")
);
CREATE TABLE "threads" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "forked_from" TEXT REFERENCES "threads"("id"),
   "datetime_utc" TEXT
);
CREATE TABLE "turns" (
   "id" TEXT PRIMARY KEY,
   "thread_id" TEXT REFERENCES "threads"("id"),
   "parent_message_hash" TEXT REFERENCES "messages"("hash"),
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "model" TEXT,
   "resolved_model" TEXT,
   "options_json" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id"),
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "duration_ms" INTEGER,
   "datetime_utc" TEXT
, "response_json" TEXT);
CREATE TABLE "turn_fragments" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   "kind" TEXT,
   PRIMARY KEY ("turn_id", "fragment_id", "kind", "order")
);
CREATE TABLE "turn_search" (
   "id" INTEGER PRIMARY KEY,
   "turn_id" TEXT REFERENCES "turns"("id"),
   "prompt" TEXT,
   "response" TEXT
);
CREATE TABLE "turn_tools" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "instance_id" INTEGER REFERENCES "tool_instances"("id"),
   PRIMARY KEY ("turn_id", "tool_id")
);
CREATE UNIQUE INDEX "idx_fragments_hash"
    ON "fragments" ("hash");
CREATE UNIQUE INDEX "idx_tools_hash"
    ON "tools" ("hash");
CREATE INDEX "idx_messages_parent_hash"
    ON "messages" ("parent_hash");
CREATE UNIQUE INDEX "idx_parts_message_hash_position"
    ON "parts" ("message_hash", "position");
CREATE INDEX "idx_part_fragments_fragment_id"
    ON "part_fragments" ("fragment_id");
CREATE INDEX "idx_turns_thread_id"
    ON "turns" ("thread_id");
CREATE INDEX "idx_turn_fragments_fragment_id"
    ON "turn_fragments" ("fragment_id");
CREATE UNIQUE INDEX "idx_turn_search_turn_id"
    ON "turn_search" ("turn_id");
CREATE TABLE "tool_instantiations" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "tool_call_id" TEXT,
   "instance_id" INTEGER REFERENCES "tool_instances"("id"),
   PRIMARY KEY ("turn_id", "tool_call_id")
);
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m001_initial','2026-11-18 11:42:49.617978+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m002_id_primary_key','2026-11-18 11:42:49.650116+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m003_chat_id_foreign_key','2026-11-18 11:42:49.726050+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m004_column_order','2026-11-18 11:42:49.765984+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m004_drop_provider','2026-11-18 11:42:49.802009+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m005_debug','2026-11-18 11:42:49.850046+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m006_new_logs_table','2026-11-18 11:42:49.950178+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m007_finish_logs_table','2026-11-18 11:42:49.982276+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m008_reply_to_id_foreign_key','2026-11-18 11:42:50.054076+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m008_fix_column_order_in_logs','2026-11-18 11:42:50.089976+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m009_delete_logs_table_if_empty','2026-11-18 11:42:50.129986+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m010_create_new_log_tables','2026-11-18 11:42:50.189931+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m011_fts_for_responses','2026-11-18 11:42:50.226703+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m012_attachments_tables','2026-11-18 11:42:50.250329+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m013_usage','2026-11-18 11:42:50.302003+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m014_schemas','2026-11-18 11:42:50.450023+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m015_fragments_tables','2026-11-18 11:42:50.561967+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m016_fragments_table_pks','2026-11-18 11:42:50.610005+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m017_tools_tables','2026-11-18 11:42:50.697924+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m017_tools_plugin','2026-11-18 11:42:50.733995+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m018_tool_instances','2026-11-18 11:42:50.793071+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m019_resolved_model','2026-11-18 11:42:50.802733+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m020_tool_results_attachments','2026-11-18 11:42:50.829940+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m021_tool_results_exception','2026-11-18 11:42:50.863416+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m022_response_reasoning','2026-11-18 11:42:51.682005+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m023_message_store','2026-11-18 11:42:51.896134+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m024_tool_instance_references','2026-11-18 11:42:51.990004+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m025_turn_tools_instance_backfill','2026-11-18 11:42:52.014158+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m026_message_tree_view','2026-11-18 11:42:52.038262+00:00');
INSERT INTO "_llm_migrations" ("name","applied_at") VALUES ('m027_turns_response_json','2026-11-18 11:42:52.074012+00:00');
INSERT INTO "conversations" ("id","name","model") VALUES ('01m7q7ezfnatjaadrbp0vnf0cj','Bed A: loam, full sun. When do …','stub-garden');
INSERT INTO "attachments" ("id","type","path","url","content") VALUES ('7a4775ee04d6dad6680c566f537013fb813f78ed05d85259b2af815b5f807da9','text/plain',NULL,NULL,X'62656420706c616e');
INSERT INTO "attachments" ("id","type","path","url","content") VALUES ('5093579dba4d25c135b5a6ee6b87f2c1a7ee456fc4b184e6211fc3c7f29b224e','text/plain',NULL,NULL,X'70616e2070686f746f');
INSERT INTO "attachments" ("id","type","path","url","content") VALUES ('4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6','image/png','/home/me/pan.png',NULL,NULL);
INSERT INTO "prompt_attachments" ("response_id","attachment_id","order") VALUES ('01m7q7ezfnatjaadrbp0vnf0ck','7a4775ee04d6dad6680c566f537013fb813f78ed05d85259b2af815b5f807da9',0);
INSERT INTO "responses" ("id","model","prompt","system","prompt_json","options_json","response","response_json","conversation_id","duration_ms","datetime_utc","input_tokens","output_tokens","token_details","schema_id","resolved_model","reasoning") VALUES ('01m7q7ezfnatjaadrbp0vnf0ck','stub-garden','When do I sow runner beans?','You are a gardener.',NULL,'{}','Sow the beans in mid May, when the soil is above 10 C.',NULL,'01m7q7ezfnatjaadrbp0vnf0cj',0,'2025-05-11T08:30:00.870017+00:00',11,7,NULL,NULL,NULL,NULL);
INSERT INTO "responses" ("id","model","prompt","system","prompt_json","options_json","response","response_json","conversation_id","duration_ms","datetime_utc","input_tokens","output_tokens","token_details","schema_id","resolved_model","reasoning") VALUES ('01m7q7ezjjhab1hj29p4x5bc6h','stub-garden','Shall I water today?',NULL,NULL,'{}','Let me look at the rain.',NULL,'01m7q7ezfnatjaadrbp0vnf0cj',0,'2025-05-11T08:37:00.870017+00:00',11,7,NULL,NULL,NULL,NULL);
INSERT INTO "responses" ("id","model","prompt","system","prompt_json","options_json","response","response_json","conversation_id","duration_ms","datetime_utc","input_tokens","output_tokens","token_details","schema_id","resolved_model","reasoning") VALUES ('01m7q7ezjjhab1hj29p4x5bc6j','stub-garden','',NULL,NULL,'{}','12 mm is enough: no watering today.',NULL,'01m7q7ezfnatjaadrbp0vnf0cj',0,'2025-05-11T08:44:00.870017+00:00',11,7,NULL,NULL,NULL,NULL);
INSERT INTO "responses" ("id","model","prompt","system","prompt_json","options_json","response","response_json","conversation_id","duration_ms","datetime_utc","input_tokens","output_tokens","token_details","schema_id","resolved_model","reasoning") VALUES ('01m7q7ezn1zvfhfx72hfsjea81','stub-garden','How many beans for a row?',NULL,NULL,'{}','A row 3 m long takes about 40 beans.',NULL,'01m7q7ezfnatjaadrbp0vnf0cj',0,'2025-05-11T08:51:00.870017+00:00',11,7,NULL,NULL,NULL,NULL);
INSERT INTO "fragments" ("id","hash","content","datetime_utc","source") VALUES (1,'747f534004383febce2cc01e5b28618598fb87ad17432104ad1d4d96ae3fcc1c','Bed A: loam, full sun.','2026-11-18 11:42:50',NULL);
INSERT INTO "fragments" ("id","hash","content","datetime_utc","source") VALUES (2,'78b2f7a31fe138c5aef566b3721a2dda10b62a785922b9f87c7807b5607d289a','Pan: 30 cm, cast iron.','2026-11-18 11:42:52',NULL);
INSERT INTO "prompt_fragments" ("response_id","fragment_id","order") VALUES ('01m7q7ezfnatjaadrbp0vnf0ck',1,0);
INSERT INTO "tools" ("id","hash","name","description","input_schema","plugin") VALUES (1,'1ee7a89422362fff44443b9b68698f1b9d7d0f70c34d81b3393b8c0f2be699ca','rainfall','Rain in the last days, in mm','{"properties": {"town": {"type": "string"}, "days": {"type": "integer"}}, "required": ["town", "days"], "type": "object"}',NULL);
INSERT INTO "tools" ("id","hash","name","description","input_schema","plugin") VALUES (2,'b0fc5e93445ca04295fafb791b7f4210d10f6afe107e3f48cf1543f1bb773d10','broken','always fails','{"properties": {"x": {"type": "integer"}}, "required": ["x"], "type": "object"}',NULL);
INSERT INTO "tool_responses" ("tool_id","response_id") VALUES (1,'01m7q7ezjjhab1hj29p4x5bc6h');
INSERT INTO "tool_responses" ("tool_id","response_id") VALUES (1,'01m7q7ezjjhab1hj29p4x5bc6j');
INSERT INTO "tool_calls" ("id","response_id","tool_id","name","arguments","tool_call_id") VALUES (1,'01m7q7ezjjhab1hj29p4x5bc6h',1,'rainfall','{"town": "Appelby", "days": 7}','call_1');
INSERT INTO "tool_results" ("id","response_id","tool_id","name","output","tool_call_id","instance_id","exception") VALUES (1,'01m7q7ezjjhab1hj29p4x5bc6j',1,'rainfall','Appelby: 12 mm in 7 days','call_1',NULL,NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:8dd474ea9623bca9f31c7d310321bd18',NULL,'system',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:5639586e8473aa983da0ae63928a7c75','b2:8dd474ea9623bca9f31c7d310321bd18','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:f693d99c937ec40bdd26edd80b7887eb','b2:5639586e8473aa983da0ae63928a7c75','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:7d14f00547d5fdf8d2b8ddf1b64ed8cb','b2:f693d99c937ec40bdd26edd80b7887eb','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:ed823221abcea5e6be64718acae542fc','b2:7d14f00547d5fdf8d2b8ddf1b64ed8cb','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:30760d288af500bd4bbe7c0efdf385c9','b2:ed823221abcea5e6be64718acae542fc','tool',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:db0b0e6121bced87c5377ae0daff6c86','b2:30760d288af500bd4bbe7c0efdf385c9','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:f6dd17ccee366aacb5ebb5b531cec5f9','b2:db0b0e6121bced87c5377ae0daff6c86','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:15dbbbed58ac80d8883854c6ca1846d4','b2:f6dd17ccee366aacb5ebb5b531cec5f9','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:ffdf35a4d99225c62be225eebf3c006a','b2:15dbbbed58ac80d8883854c6ca1846d4','tool',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:d728f092af570f59d70f513082d9a227','b2:ffdf35a4d99225c62be225eebf3c006a','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:7d635cfa7b6bfca95e57847498cc6845',NULL,'user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:ca34863db670dfc7222c6e6a05e4ca7b','b2:7d635cfa7b6bfca95e57847498cc6845','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:dafafb1de1fc8f312b92a7d473ca8150',NULL,'system',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:f933e59ff73bdb0f53ef6d27df413947','b2:dafafb1de1fc8f312b92a7d473ca8150','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:9fb054f3fc601c24fd4e3ee308b065ac','b2:f933e59ff73bdb0f53ef6d27df413947','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:1ce7e2bb1a32a16ba691fd02c5c68b36','b2:9fb054f3fc601c24fd4e3ee308b065ac','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:d76574f57d0138606e7337d4dc89d2e2','b2:1ce7e2bb1a32a16ba691fd02c5c68b36','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:aa94af30f7bcd2bb110e8961667972a8','b2:d76574f57d0138606e7337d4dc89d2e2','tool',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:4312c62176db10225238d5efbcf09f78','b2:aa94af30f7bcd2bb110e8961667972a8','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:b8f4a72158b70d32a7d0c0213c6482ee','b2:4312c62176db10225238d5efbcf09f78','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:9af07569dc45166f014fbb70124dfea0','b2:b8f4a72158b70d32a7d0c0213c6482ee','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:f710e1105be0674ecf635b4cc5d11981','b2:9af07569dc45166f014fbb70124dfea0','user',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:bc1badc17ad285826cdd0356be0def46','b2:f710e1105be0674ecf635b4cc5d11981','assistant',NULL);
INSERT INTO "messages" ("hash","parent_hash","role","provider_metadata") VALUES ('b2:7cadc6a551fee0f23fac531211e909b2','b2:f693d99c937ec40bdd26edd80b7887eb','user',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (1,'b2:8dd474ea9623bca9f31c7d310321bd18',0,'text',NULL,'You bake.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (2,'b2:5639586e8473aa983da0ae63928a7c75',0,'text',NULL,NULL,'{"text_ref": [{"fragment": 2}, {"literal": "\nA bread\nrecipe?"}]}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (3,'b2:5639586e8473aa983da0ae63928a7c75',1,'attachment',NULL,NULL,'{"attachment": {"id": "5093579dba4d25c135b5a6ee6b87f2c1a7ee456fc4b184e6211fc3c7f29b224e"}}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (4,'b2:5639586e8473aa983da0ae63928a7c75',2,'attachment',NULL,NULL,'{"attachment": {"id": "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6"}}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (5,'b2:f693d99c937ec40bdd26edd80b7887eb',0,'text',NULL,'500 g flour, 350 g water, 10 g salt.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (6,'b2:7d14f00547d5fdf8d2b8ddf1b64ed8cb',0,'text',NULL,'How damp is it?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (7,'b2:ed823221abcea5e6be64718acae542fc',0,'tool_call','rainfall',NULL,'{"name": "rainfall", "arguments": {"town": "Ovenby", "days": 1}, "tool_call_id": "call_1"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (8,'b2:30760d288af500bd4bbe7c0efdf385c9',0,'tool_result','rainfall',NULL,'{"name": "rainfall", "output": "Ovenby: 12 mm in 1 days", "tool_call_id": "call_1"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (9,'b2:db0b0e6121bced87c5377ae0daff6c86',0,'text',NULL,'Dry air: add 10 g water.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (10,'b2:f6dd17ccee366aacb5ebb5b531cec5f9',0,'text',NULL,'And the gauge?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (11,'b2:15dbbbed58ac80d8883854c6ca1846d4',0,'tool_call','broken',NULL,'{"name": "broken", "arguments": {"x": 1}, "tool_call_id": "call_1"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (12,'b2:ffdf35a4d99225c62be225eebf3c006a',0,'tool_result','broken',NULL,'{"name": "broken", "output": "Error: no gauge", "tool_call_id": "call_1", "exception": "ValueError: no gauge"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (13,'b2:d728f092af570f59d70f513082d9a227',0,'text',NULL,'The gauge is broken.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (14,'b2:7d635cfa7b6bfca95e57847498cc6845',0,'text',NULL,'Stray question',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (15,'b2:ca34863db670dfc7222c6e6a05e4ca7b',1,'text',NULL,'Only once.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (16,'b2:dafafb1de1fc8f312b92a7d473ca8150',0,'text',NULL,'You are a gardener.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (17,'b2:f933e59ff73bdb0f53ef6d27df413947',0,'text',NULL,'Bed A: loam, full sun.
When do I sow runner beans?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (18,'b2:9fb054f3fc601c24fd4e3ee308b065ac',0,'text',NULL,'Sow the beans in mid May, when the soil is above 10 C.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (19,'b2:1ce7e2bb1a32a16ba691fd02c5c68b36',0,'text',NULL,'Shall I water today?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (20,'b2:d76574f57d0138606e7337d4dc89d2e2',0,'text',NULL,'Let me look at the rain.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (21,'b2:d76574f57d0138606e7337d4dc89d2e2',1,'tool_call','rainfall',NULL,'{"name": "rainfall", "arguments": {"town": "Appelby", "days": 7}, "tool_call_id": "call_1"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (22,'b2:aa94af30f7bcd2bb110e8961667972a8',0,'tool_result','rainfall',NULL,'{"name": "rainfall", "output": "Appelby: 12 mm in 7 days", "tool_call_id": "call_1"}');
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (23,'b2:4312c62176db10225238d5efbcf09f78',0,'text',NULL,'12 mm is enough: no watering today.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (24,'b2:b8f4a72158b70d32a7d0c0213c6482ee',0,'text',NULL,'How many beans for a row?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (25,'b2:9af07569dc45166f014fbb70124dfea0',0,'text',NULL,'A row 3 m long takes about 40 beans.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (26,'b2:f710e1105be0674ecf635b4cc5d11981',0,'text',NULL,'Should I add stakes?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (27,'b2:bc1badc17ad285826cdd0356be0def46',0,'text',NULL,'Yes, one at each end.',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (28,'b2:7cadc6a551fee0f23fac531211e909b2',0,'text',NULL,'With rye?',NULL);
INSERT INTO "parts" ("id","message_hash","position","type","tool_name","text","payload") VALUES (29,'b2:ca34863db670dfc7222c6e6a05e4ca7b',0,'reasoning',NULL,'','{"redacted": true}');
INSERT INTO "part_attachments" ("part_id","attachment_id","order") VALUES (3,'5093579dba4d25c135b5a6ee6b87f2c1a7ee456fc4b184e6211fc3c7f29b224e',0);
INSERT INTO "part_attachments" ("part_id","attachment_id","order") VALUES (4,'4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6',0);
INSERT INTO "part_fragments" ("part_id","fragment_id","order") VALUES (2,2,0);
INSERT INTO "threads" ("id","name","tip_message_hash","forked_from","datetime_utc") VALUES ('01m7q7f0nsrz8ghrpb7fq7vb4y','Pan: 30 cm, cast iron. A bread …','b2:d728f092af570f59d70f513082d9a227',NULL,'2026-09-02 17:12:00.870017+00:00');
INSERT INTO "threads" ("id","name","tip_message_hash","forked_from","datetime_utc") VALUES ('01m7q7f0qqr3wyw9xxcdn9w77j','Stray question','b2:ca34863db670dfc7222c6e6a05e4ca7b',NULL,'2026-09-02 17:19:00.870017+00:00');
INSERT INTO "threads" ("id","name","tip_message_hash","forked_from","datetime_utc") VALUES ('01m7q7ezfnatjaadrbp0vnf0cj','Should I add stakes?','b2:bc1badc17ad285826cdd0356be0def46',NULL,'2026-09-02 17:05:00.870017+00:00');
INSERT INTO "threads" ("id","name","tip_message_hash","forked_from","datetime_utc") VALUES ('01m7q7fwmcqshkbhnd34zs7c76','Bread, rye fork','b2:7cadc6a551fee0f23fac531211e909b2','01m7q7f0nsrz8ghrpb7fq7vb4y','2026-09-02 17:26:00.870017+00:00');
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0ntgg9agn9g2vsa01h5','01m7q7f0nsrz8ghrpb7fq7vb4y','b2:5639586e8473aa983da0ae63928a7c75','b2:f693d99c937ec40bdd26edd80b7887eb','stub-garden','stub-garden-2026-08','{"temperature": 0.2}',NULL,11,7,NULL,0,'2026-09-02T17:05:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0pgwz42fsf810kdjejz','01m7q7f0nsrz8ghrpb7fq7vb4y','b2:7d14f00547d5fdf8d2b8ddf1b64ed8cb','b2:ed823221abcea5e6be64718acae542fc','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:12:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0pgwz42fsf810kdjek0','01m7q7f0nsrz8ghrpb7fq7vb4y','b2:30760d288af500bd4bbe7c0efdf385c9','b2:db0b0e6121bced87c5377ae0daff6c86','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:19:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0q07z9yvesvk1tm0hcm','01m7q7f0nsrz8ghrpb7fq7vb4y','b2:f6dd17ccee366aacb5ebb5b531cec5f9','b2:15dbbbed58ac80d8883854c6ca1846d4','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:26:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0q07z9yvesvk1tm0hcn','01m7q7f0nsrz8ghrpb7fq7vb4y','b2:ffdf35a4d99225c62be225eebf3c006a','b2:d728f092af570f59d70f513082d9a227','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:33:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7f0qpy3c4v0abfh3pg1ev','01m7q7f0qqr3wyw9xxcdn9w77j','b2:7d635cfa7b6bfca95e57847498cc6845','b2:ca34863db670dfc7222c6e6a05e4ca7b','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:40:00.870017+00:00',NULL);
INSERT INTO "turns" ("id","thread_id","parent_message_hash","tip_message_hash","model","resolved_model","options_json","schema_id","input_tokens","output_tokens","token_details","duration_ms","datetime_utc","response_json") VALUES ('01m7q7fwkqbajb6djy7h968n7j','01m7q7ezfnatjaadrbp0vnf0cj','b2:f710e1105be0674ecf635b4cc5d11981','b2:bc1badc17ad285826cdd0356be0def46','stub-garden',NULL,NULL,NULL,11,7,NULL,0,'2026-09-02T17:47:00.870017+00:00',NULL);
INSERT INTO "turn_fragments" ("turn_id","fragment_id","order","kind") VALUES ('01m7q7f0ntgg9agn9g2vsa01h5',2,0,'prompt');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (1,'01m7q7f0ntgg9agn9g2vsa01h5','
A bread
recipe?','500 g flour, 350 g water, 10 g salt.');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (2,'01m7q7f0pgwz42fsf810kdjejz','How damp is it?','');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (3,'01m7q7f0pgwz42fsf810kdjek0','','Dry air: add 10 g water.');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (4,'01m7q7f0q07z9yvesvk1tm0hcm','And the gauge?','');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (5,'01m7q7f0q07z9yvesvk1tm0hcn','','The gauge is broken.');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (6,'01m7q7f0qpy3c4v0abfh3pg1ev','Stray question','Only once.');
INSERT INTO "turn_search" ("id","turn_id","prompt","response") VALUES (7,'01m7q7fwkqbajb6djy7h968n7j','Should I add stakes?','Yes, one at each end.');
INSERT INTO "turn_tools" ("turn_id","tool_id","instance_id") VALUES ('01m7q7f0pgwz42fsf810kdjejz',1,NULL);
INSERT INTO "turn_tools" ("turn_id","tool_id","instance_id") VALUES ('01m7q7f0pgwz42fsf810kdjek0',1,NULL);
INSERT INTO "turn_tools" ("turn_id","tool_id","instance_id") VALUES ('01m7q7f0q07z9yvesvk1tm0hcm',2,NULL);
INSERT INTO "turn_tools" ("turn_id","tool_id","instance_id") VALUES ('01m7q7f0q07z9yvesvk1tm0hcn',2,NULL);
COMMIT;
