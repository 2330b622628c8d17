// Written by `memoir connect opencode`. Remove it with `memoir connect opencode --remove`.
// Adds memory to prompts and tells Memoir when a turn ends. Errors never reach opencode, and a prompt waits
// at most 400 ms.
import { spawn } from "node:child_process"

const COMMAND = ["memoir"]
const LIMIT_MS = 400

// Runs a hook and resolves to its output. The output is empty if the hook fails or is too slow.
function run(event, payload, limit) {
  return new Promise((resolve) => {
    try {
      const args = [...COMMAND.slice(1), "hook", "--host", "opencode", event]
      const child = spawn(COMMAND[0], args, {
        stdio: ["pipe", limit ? "pipe" : "ignore", "ignore"],
        detached: !limit,
      })
      let output = ""
      const timer = limit && setTimeout(() => { resolve(""); child.kill() }, limit)
      const finish = (text) => { clearTimeout(timer); resolve(text) }
      child.on("error", () => finish(""))
      child.on("close", (code) => finish(code === 0 ? output : ""))
      child.stdout?.setEncoding("utf8")
      child.stdout?.on("data", (chunk) => { output += chunk })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
      if (!limit) { child.unref(); resolve("") }
    } catch { resolve("") }
  })
}

async function context(event, payload) {
  try {
    const output = await run(event, payload, LIMIT_MS)
    const text = JSON.parse(output || "{}")?.hookSpecificOutput?.additionalContext
    return typeof text === "string" ? text : ""
  } catch { return "" }
}

export const Memoir = async ({ directory, worktree }) => {
  const seen = new Set()
  const payload = (session, name) => ({ session_id: session, cwd: directory, worktree, hook_event_name: name })
  return {
    "chat.message": async (input, output) => {
      try {
        const session = input.sessionID
        const parts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const prompt = parts.map((part) => part.text).join("\n")
        const first = parts[0]
        if (!first) return
        const calls = [context("prompt-submit", { ...payload(session, "UserPromptSubmit"), prompt })]
        // opencode has no event whose output could add context when a session starts.
        if (!seen.has(session)) {
          seen.add(session)
          calls.unshift(context("session-start", { ...payload(session, "SessionStart"), source: "startup" }))
        }
        const text = (await Promise.all(calls)).filter(Boolean).join("\n\n")
        if (text) {
          const ids = { id: first.id + "m", sessionID: session, messageID: output.message.id }
          output.parts.push({ ...ids, type: "text", text, synthetic: true })
        }
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const session = event.properties?.sessionID ?? event.properties?.info?.id
        if (event.type === "session.idle") run("turn-end", payload(session, "Stop"), 0)
        if (event.type === "session.deleted") run("session-end", payload(session, "SessionEnd"), 0)
      } catch {}
    },
    "experimental.session.compacting": async (input, output) => {
      try {
        const text = await context("before-compaction", payload(input.sessionID, "PreCompact"))
        if (text) output.context.push(text)
      } catch {}
    },
  }
}
