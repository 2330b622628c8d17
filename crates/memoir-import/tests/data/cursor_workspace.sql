BEGIN;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES('composer.composerData','{"allComposers":[{"composerId":"c0ffee00-1111-4222-8333-0000000b2ead","createdAt":1733000000000,"lastUpdatedAt":1733000005000,"name":"Bread for Sunday","unifiedMode":"edit","type":"head"}],"selectedComposerId":"c0ffee00-1111-4222-8333-0000000b2ead"}');
INSERT INTO ItemTable VALUES('workbench.panel.aichat.view.aichat.chatdata','{"tabs":[{"tabId":"7a7a7a7a-0000-4000-8000-000000000001","chatTitle":"Pancakes","lastSendTime":1709283600000,"bubbles":[{"type":"user","id":"u1","text":"Pancakes for four?","rawText":"Pancakes for four?"},{"type":"ai","id":"a1","modelType":"gpt-4","rawText":"250 g flour","text":""},{"type":"user","id":"u2","initText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"text\":\"And the milk?\"}]}]}}"}]}]}');
INSERT INTO ItemTable VALUES('aiService.prompts','[{"text":"Pancakes for four?","commandType":1}]');
COMMIT;
