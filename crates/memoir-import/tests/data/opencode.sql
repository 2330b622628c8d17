-- written by opencode 1.18.34 itself (run against a stub model), then: times and paths changed, second conversation added by hand
PRAGMA foreign_keys=OFF;
BEGIN;
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
CREATE TABLE `project_directory` (
          `project_id` text NOT NULL,
          `directory` text NOT NULL,
          `type` text,
          `strategy` text,
          `time_created` integer NOT NULL,
          CONSTRAINT `project_directory_pk` PRIMARY KEY(`project_id`, `directory`),
          CONSTRAINT `fk_project_directory_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session_message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `type` text NOT NULL,
          `seq` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_session_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `todo` (
          `session_id` text NOT NULL,
          `content` text NOT NULL,
          `status` text NOT NULL,
          `priority` text NOT NULL,
          `position` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `todo_pk` PRIMARY KEY(`session_id`, `position`),
          CONSTRAINT `fk_todo_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session_share` (
          `session_id` text PRIMARY KEY,
          `id` text NOT NULL,
          `secret` text NOT NULL,
          `url` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `fk_session_share_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE "migration" (id TEXT PRIMARY KEY, time_completed INTEGER NOT NULL);
INSERT INTO project (`id`,`worktree`,`vcs`,`name`,`icon_url`,`icon_url_override`,`icon_color`,`time_created`,`time_updated`,`time_initialized`,`sandboxes`,`commands`) VALUES ('global','/',NULL,NULL,NULL,NULL,NULL,1789999970843,1789999970843,NULL,'[]',NULL);
INSERT INTO project (`id`,`worktree`,`vcs`,`name`,`icon_url`,`icon_url_override`,`icon_color`,`time_created`,`time_updated`,`time_initialized`,`sandboxes`,`commands`) VALUES ('05d526e47f14c7e1081c7a5e75d968c766f4968a','/home/me/garden','git',NULL,NULL,NULL,NULL,1789999999032,1790000011847,NULL,'[]',NULL);
INSERT INTO project_directory (`project_id`,`directory`,`type`,`strategy`,`time_created`) VALUES ('05d526e47f14c7e1081c7a5e75d968c766f4968a','/home/me/garden',NULL,NULL,1789999999042);
INSERT INTO session (`id`,`project_id`,`workspace_id`,`parent_id`,`slug`,`directory`,`path`,`title`,`version`,`share_url`,`summary_additions`,`summary_deletions`,`summary_files`,`summary_diffs`,`metadata`,`cost`,`tokens_input`,`tokens_output`,`tokens_reasoning`,`tokens_cache_read`,`tokens_cache_write`,`revert`,`permission`,`agent`,`model`,`time_created`,`time_updated`,`time_compacting`,`time_archived`) VALUES ('ses_e11818b73ffemUlFi32SZnRfFN','05d526e47f14c7e1081c7a5e75d968c766f4968a',NULL,NULL,'tidy-cactus','/home/me/garden','','Runner beans in the bed','1.18.34',NULL,0,0,0,NULL,NULL,0.0,0,0,0,0,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"bean-1","providerID":"stub","variant":"default"}',1790000000000,1790000009996,NULL,NULL);
INSERT INTO message (`id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('msg_1ee7e75c0001J5GwO5b33Kw4CU','ses_e11818b73ffemUlFi32SZnRfFN',1790000000307,1790000002683,'{"role":"user","time":{"created":1790000000307},"agent":"build","model":{"providerID":"stub","modelID":"bean-1"},"summary":{"diffs":[]}}');
INSERT INTO message (`id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('msg_1ee7e7cd4001P3jjz1iMhIN300','ses_e11818b73ffemUlFi32SZnRfFN',1790000002119,1790000003964,'{"parentID":"msg_1ee7e75c0001J5GwO5b33Kw4CU","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/garden","root":"/home/me/garden"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"bean-1","providerID":"stub","time":{"created":1790000002119,"completed":1790000003962},"finish":"stop"}');
INSERT INTO message (`id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('msg_1ee7e8e6f001g0V7FbSUtKlV1I','ses_e11818b73ffemUlFi32SZnRfFN',1790000006626,1790000009826,'{"role":"user","time":{"created":1790000006626},"agent":"build","model":{"providerID":"stub","modelID":"bean-1"},"summary":{"diffs":[]}}');
INSERT INTO message (`id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000008035,1790000009628,'{"parentID":"msg_1ee7e8e6f001g0V7FbSUtKlV1I","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/garden","root":"/home/me/garden"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"bean-1","providerID":"stub","time":{"created":1790000008035,"completed":1790000009627},"finish":"tool-calls"}');
INSERT INTO message (`id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('msg_1ee7e9a2e00128KVx1W7cxieOV','ses_e11818b73ffemUlFi32SZnRfFN',1790000009633,1790000009968,'{"parentID":"msg_1ee7e8e6f001g0V7FbSUtKlV1I","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/garden","root":"/home/me/garden"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"bean-1","providerID":"stub","time":{"created":1790000009633,"completed":1790000009966},"finish":"stop"}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e75df001i5QXcQA8YceuZh','msg_1ee7e75c0001J5GwO5b33Kw4CU','ses_e11818b73ffemUlFi32SZnRfFN',1790000002094,1790000002098,'{"type":"text","text":"\"When do I sow runner beans?\""}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e8396001pKJrNbmuliFcxa','msg_1ee7e7cd4001P3jjz1iMhIN300','ses_e11818b73ffemUlFi32SZnRfFN',1790000003849,1790000003851,'{"snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-start"}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e839a001YQLdjSaeLcoEVC','msg_1ee7e7cd4001P3jjz1iMhIN300','ses_e11818b73ffemUlFi32SZnRfFN',1790000003853,1790000003858,'{"type":"text","text":"Sow in mid May.","time":{"start":1790000003853,"end":1790000003857}}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e83d7001Beh2OFlmWsjP3c','msg_1ee7e7cd4001P3jjz1iMhIN300','ses_e11818b73ffemUlFi32SZnRfFN',1790000003914,1790000003917,'{"reason":"stop","snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-finish","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e8e73001Emm3E6o7K3YCZV','msg_1ee7e8e6f001g0V7FbSUtKlV1I','ses_e11818b73ffemUlFi32SZnRfFN',1790000007999,1790000008002,'{"type":"text","text":"\"What does the plan say?\""}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e99640015pk2Z7iiXjLw0j','msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000009431,1790000009434,'{"snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-start"}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e996a001mzfTGM2oyZVOne','msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000009437,1790000009444,'{"type":"reasoning","text":"I should read the plan.","time":{"start":1790000009437,"end":1790000009443}}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e9974001c0t0tKHlbmqJiJ','msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000009447,1790000009483,'{"type":"text","text":"Let me read it.","time":{"start":1790000009447,"end":1790000009481}}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e997b001AfQfU31opoUUem','msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000009454,1790000009499,'{"type":"tool","tool":"read","callID":"call_7","state":{"status":"completed","input":{"filePath":"/home/me/garden/bed.txt"},"output":"<path>/home/me/garden/bed.txt</path>\n<type>file</type>\n<content>\n1: row A: beans\n\n(End of file - total 1 lines)\n</content>","metadata":{"preview":"row A: beans","truncated":false,"loaded":[],"display":{"type":"file","path":"/home/me/garden/bed.txt","text":"row A: beans","lineStart":1,"lineEnd":1,"totalLines":1,"truncated":false}},"title":"bed.txt","time":{"start":1790000009472,"end":1790000009497}}}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e99e9001TFvl0mMn56v1mi','msg_1ee7e93f0001b6Nh5QAr1HM2eL','ses_e11818b73ffemUlFi32SZnRfFN',1790000009565,1790000009567,'{"reason":"tool-calls","snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-finish","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e9ac20012H1CmMCwA8jM7J','msg_1ee7e9a2e00128KVx1W7cxieOV','ses_e11818b73ffemUlFi32SZnRfFN',1790000009783,1790000009785,'{"snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-start"}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e9ac7001MwQ5nSSDMuBPLm','msg_1ee7e9a2e00128KVx1W7cxieOV','ses_e11818b73ffemUlFi32SZnRfFN',1790000009787,1790000009795,'{"type":"text","text":"The bed plan says: beans in row A.","time":{"start":1790000009786,"end":1790000009793}}');
INSERT INTO part (`id`,`message_id`,`session_id`,`time_created`,`time_updated`,`data`) VALUES ('prt_1ee7e9b28001BGU770TE8J7k01','msg_1ee7e9a2e00128KVx1W7cxieOV','ses_e11818b73ffemUlFi32SZnRfFN',1790000009883,1790000009886,'{"reason":"stop","snapshot":"0cc8219f0ae9552dbb36619dfdae1c03444ab545","type":"step-finish","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO session(id,project_id,parent_id,slug,directory,path,title,version,revert,time_created,time_updated,time_archived) VALUES('ses_e0d0aaaaaffeBreadBreadBread0','global',NULL,'quiet-oven','/home/me/kitchen',NULL,'New session - 2026-09-22T18:00:00.000Z','1.18.34','{"messageID": "msg_1f2f0000b001BreadBread0006"}',1790100000000,1790100060000,NULL);
INSERT INTO session_share(session_id,id,secret,url,time_created,time_updated) VALUES('ses_e0d0aaaaaffeBreadBreadBread0','abc','SECRET','https://opncd.ai/share/abc',1790100000000,1790100000000);
INSERT INTO message VALUES('msg_1f2f00001001BreadBread0001','ses_e0d0aaaaaffeBreadBreadBread0',1790100000000,1790100000000,'{"role": "user", "time": {"created": 1790100000000}, "agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-sonnet-4"}}');
INSERT INTO part VALUES('prt_1f2f00001002BreadBread0001','msg_1f2f00001001BreadBread0001','ses_e0d0aaaaaffeBreadBreadBread0',1790100000000,1790100000000,'{"type": "text", "text": "Bake the bread in @recipe.md"}');
INSERT INTO part VALUES('prt_1f2f00001003BreadBread0002','msg_1f2f00001001BreadBread0001','ses_e0d0aaaaaffeBreadBreadBread0',1790100000000,1790100000000,'{"type": "text", "synthetic": true, "text": "Called the Read tool with the following input: {\"filePath\":\"/home/me/kitchen/recipe.md\"}"}');
INSERT INTO part VALUES('prt_1f2f00001004BreadBread0003','msg_1f2f00001001BreadBread0001','ses_e0d0aaaaaffeBreadBreadBread0',1790100000000,1790100000000,'{"type": "file", "mime": "text/plain", "filename": "recipe.md", "url": "file:///home/me/kitchen/recipe.md", "source": {"type": "file", "path": "recipe.md", "text": {"value": "@recipe.md", "start": 18, "end": 28}}}');
INSERT INTO message VALUES('msg_1f2f00003001BreadBread0002','ses_e0d0aaaaaffeBreadBreadBread0',1790100001000,1790100001000,'{"parentID": "msg_1f2f00001001BreadBread0001", "role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": "/home/me/kitchen", "root": "/"}, "cost": 0.001, "tokens": {"input": 5, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "modelID": "claude-sonnet-4", "providerID": "anthropic", "time": {"created": 1790100001000, "completed": 1790100002000}, "finish": "tool-calls"}');
INSERT INTO part VALUES('prt_1f2f00003002BreadBread0004','msg_1f2f00003001BreadBread0002','ses_e0d0aaaaaffeBreadBreadBread0',1790100001000,1790100001000,'{"type": "tool", "tool": "bash", "callID": "toolu_1", "state": {"status": "error", "input": {"command": "oven --heat 230", "description": "Heat the oven"}, "error": "Error: oven: command not found", "time": {"start": 1790100001000, "end": 1790100001100}}}');
INSERT INTO part VALUES('prt_1f2f00003003BreadBread0005','msg_1f2f00003001BreadBread0002','ses_e0d0aaaaaffeBreadBreadBread0',1790100001000,1790100001000,'{"type": "tool", "tool": "task", "callID": "toolu_2", "state": {"status": "running", "input": {"description": "Look up hydration"}, "time": {"start": 1790100001100}}}');
INSERT INTO part VALUES('prt_1f2f00003004BreadBread0006','msg_1f2f00003001BreadBread0002','ses_e0d0aaaaaffeBreadBreadBread0',1790100001000,1790100001000,'{"type": "patch", "hash": "abc", "files": ["/home/me/kitchen/recipe.md"]}');
INSERT INTO message VALUES('msg_1f2f00007001BreadBread0004','ses_e0d0aaaaaffeBreadBreadBread0',1790100003000,1790100003000,'{"parentID": "msg_1f2f00001001BreadBread0001", "role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": "/home/me/kitchen", "root": "/"}, "cost": 0.001, "tokens": {"input": 5, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "modelID": "claude-sonnet-4", "providerID": "anthropic", "time": {"created": 1790100003000}, "finish": "stop", "error": {"name": "MessageAbortedError", "data": {"message": "aborted"}}}');
INSERT INTO message VALUES('msg_1f2f0000b001BreadBread0006','ses_e0d0aaaaaffeBreadBreadBread0',1790100005000,1790100005000,'{"role": "user", "time": {"created": 1790100005000}, "agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-sonnet-4"}}');
INSERT INTO part VALUES('prt_1f2f0000b002BreadBread0007','msg_1f2f0000b001BreadBread0006','ses_e0d0aaaaaffeBreadBreadBread0',1790100005000,1790100005000,'{"type": "text", "text": "(reverted) With rye instead?"}');
INSERT INTO session(id,project_id,parent_id,slug,directory,path,title,version,revert,time_created,time_updated,time_archived) VALUES('ses_e0d0aaaa0ffeBreadChildChild0','global','ses_e0d0aaaaaffeBreadBreadBread0','quiet-oven','/home/me/kitchen',NULL,'Look up hydration (@general subagent)','1.18.34',NULL,1790100000000,1790100060000,1790100070000);
INSERT INTO message VALUES('msg_1f2f00005001BreadBread0003','ses_e0d0aaaa0ffeBreadChildChild0',1790100001200,1790100001200,'{"role": "user", "time": {"created": 1790100001200}, "agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-sonnet-4"}}');
INSERT INTO part VALUES('prt_1f2f00005002BreadBread0008','msg_1f2f00005001BreadBread0003','ses_e0d0aaaa0ffeBreadChildChild0',1790100001200,1790100001200,'{"type": "text", "text": "What hydration does a tin loaf need?"}');
COMMIT;
