// Uses the pages of `memoir serve` with Chromium, as a person would. Prints a line of JSON for each trial.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [base, link, token, directory] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
const page = await context.newPage();
page.setDefaultTimeout(10_000);

/** What no page may do. */
const faults = [];
context.on("request", (request) => {
  if (new URL(request.url()).origin !== base) faults.push(`a request to ${request.url()}`);
});
context.on("console", (message) => {
  const isRefusal = /status of 401/.test(message.text());
  if (message.type() === "error" && !isRefusal) faults.push(`console: ${message.text()}`);
});
context.on("weberror", (error) => faults.push(`script: ${error.error()}`));
context.on("dialog", (dialog) => {
  faults.push(`a dialog: ${dialog.message()}`);
  dialog.dismiss();
});
await context.addInitScript(() => {
  window.addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
});

const PAGES = ["/", "/conversations", "/documents", "/facts", "/activity", "/core-memory", "/chat", "/import",
  "/background", "/programs"];

async function trial(what, run) {
  let reason = null;
  faults.length = 0;
  try {
    await run();
    assert.deepEqual(faults, []);
  } catch (error) {
    reason = String(error.stack ?? error).slice(0, 1500);
    await page.screenshot({ path: `${directory}/failed-${what.replace(/\W+/g, "-")}.png` }).catch(() => {});
  }
  console.log(JSON.stringify({ what, reason }));
}

const open = (path) => page.goto(base + path);
const text = (selector) => page.locator(selector).first().innerText();

await trial("log in with a token and with a link that works once", async () => {
  await open("/conversations");
  assert.equal(new URL(page.url()).pathname, "/login");
  await page.fill("#token", "mmr1_wrong");
  await page.click("button[type=submit]");
  assert.match(await text(".problem"), /not a valid token/);
  await page.fill("#token", token);
  await page.click("button[type=submit]");
  await page.click("text=Log out");
  await open("/");
  assert.equal(new URL(page.url()).pathname, "/login");
  await page.goto(link);
  assert.equal(page.url(), `${base}/`);
  const again = await context.request.get(link, { maxRedirects: 0 });
  assert.equal(again.status(), 401);
  const [cookie] = await context.cookies();
  assert.ok(cookie.httpOnly && cookie.sameSite === "Strict");
});

await trial("search as you type, with highlights, reasons and filters", async () => {
  await open("/");
  await page.locator("#q").pressSequentially("which port does the staging server use", { delay: 5 });
  await page.waitForSelector("#results mark");
  assert.match(await text("#results .excerpt"), /8443|9443/);
  assert.ok(new URL(page.url()).searchParams.get("q").startsWith("which port"));
  await page.locator("#results details.why summary").first().click();
  assert.match(await text("#results details.why dl"), /staging/);
  await page.locator(".filters summary").click();
  await page.selectOption("#in_project", "/shop");
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll("#results .meta")].map((line) => line.textContent);
    return shown.length > 1 && shown.slice(1).every((line) => !line.includes("/garden"));
  });
  await page.fill("#since", "no date");
  await page.waitForSelector("#results .problem");
  await page.fill("#since", "");
  await page.waitForSelector("#results mark");
});

await trial("find what a person said", async () => {
  await open("/");
  await page.locator(".filters summary").click();
  await page.selectOption("#person", "Anna");
  await page.fill("#q", "picnic");
  await page.waitForSelector("#results mark");
  for (const line of await page.locator("#results li .meta").allInnerTexts()) assert.match(line, /Anna/);
});

await trial("move with the keyboard", async () => {
  await open("/?q=staging+server");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.locator("[data-item].selected").count(), 1);
  assert.ok(await page.locator("#results li").first().evaluate((item) => item.classList.contains("selected")));
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  await page.keyboard.press("Escape");
  await open("/?q=staging+server");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/exchanges\/\d+/);
});

await trial("read a conversation with tools and forks, and why an answer was given", async () => {
  await open("/conversations?matching=deploy");
  await page.locator(".items a").first().click();
  await page.waitForSelector("details.tool");
  await page.locator("details.tool summary").first().click();
  assert.match(await text("details.tool .raw"), /cargo/);
  await page.click("text=: why");
  assert.match(await text("h2 >> text=What memory finds"), /now/);
});

await trial("see which facts changed", async () => {
  await open("/facts");
  assert.match(await text(".timeline .current"), /9443/);
  assert.match(await text(".timeline li:not(.current)"), /8443/);
});

await trial("edit core memory, and keep a text that somebody else has overtaken", async () => {
  await open("/core-memory");
  const other = await context.newPage();
  await other.goto(`${base}/core-memory`);
  await page.fill("#user", "Lives in Graz.\nSpeaks <b>German</b>.");
  await page.click("text=Save about you");
  assert.match(await text("[role=status]"), /Saved/);
  assert.equal(await page.inputValue("#user"), "Lives in Graz.\nSpeaks <b>German</b>.");
  await other.fill("#user", "Lives in Vienna.");
  await other.click("text=Save about you");
  assert.equal(await other.locator(".problem textarea").inputValue(), "Lives in Vienna.");
  assert.match(await other.inputValue("#user"), /Graz/);
  await other.close();
});

await trial("import a history that is dropped, with progress", async () => {
  await open("/import");
  await page.selectOption("#import-format", "memoir");
  const created = "2026-07-01T10:00:00Z";
  const lines = [{ kind: "memoir", format: 1 }];
  for (let id = 0; id < 40; id += 1) {
    lines.push({ kind: "conversation", id, origin: `page/${id}`, title: `Trip ${id}`, scope: "/trips", created });
    lines.push({ kind: "exchange", conversation: id, model: "imported", messages: [
      { role: "user", text: `The ferry number ${id} leaves from pier ${id + 100}.`, created },
      { role: "assistant", text: "Noted.", created },
    ] });
  }
  const history = lines.map((line) => JSON.stringify(line)).join("\n");
  const transfer = await page.evaluateHandle((history) => {
    const data = new DataTransfer();
    data.items.add(new File([history], "trips.jsonl"));
    return data;
  }, history);
  await page.dispatchEvent("#upload-import", "drop", { dataTransfer: transfer });
  await page.waitForSelector("text=Added 80 messages in 40 conversations.");
  await page.setInputFiles("#import-files", { name: "x.jsonl", mimeType: "text/plain", buffer: Buffer.from("no") });
  await page.waitForSelector(".uploads .problem");
  await open("/?q=ferry+pier+107");
  assert.match(await text("#results .excerpt"), /107/);
});

await trial("add a document and read it", async () => {
  await open("/documents");
  const buffer = Buffer.from("# Packing list\n\nTake the **blue** tent.\n");
  await page.setInputFiles("#document-files", { name: "packing.md", mimeType: "text/markdown", buffer });
  await page.waitForSelector("text=Added as packing-list.");
  await open("/documents");
  await page.click("text=Packing list");
  assert.equal(await text(".prose strong"), "blue");
});

await trial("chat with streaming, and continue", async () => {
  await open("/chat");
  await page.fill("#prompt", "Which port does the staging server of the shop use?");
  await page.click("#chat button[type=submit]");
  await page.waitForSelector("#turns footer a");
  assert.match(await text("#turns .answer"), /9443/);
  assert.match(page.url(), /conversation=\d+/);
  await page.fill("#prompt", "The door code of the shed is 4711.");
  await page.press("#prompt", "Control+Enter");
  await page.waitForFunction(() => document.querySelectorAll("#turns footer a").length === 2);
  await page.reload();
  assert.equal(await page.locator("#turns article").count(), 2);
});

await trial("forget with a preview", async () => {
  await open("/?q=door+code+of+the+shed");
  await page.locator("#results a").first().click();
  await page.click("text=Forget…");
  assert.match(await text("main ul"), /4711/);
  await page.click("button.danger");
  assert.match(await text("[role=status]"), /deleted/);
  await open("/?q=door+code+4711");
  assert.doesNotMatch(await text("#results"), /4711/);
});

await trial("charts, workers, schedules, programs", async () => {
  await open("/activity");
  assert.ok(await page.locator("svg.calendar rect").count() > 360);
  assert.ok(await page.locator("svg.bars rect").count() > 0);
  await open("/background");
  assert.match(await text("main"), /exchange summarizer|Worker/i);
  await open("/programs");
  assert.match(await text("main"), /Claude Code/);
});

await trial("500 hostile texts in every field are only text", async () => {
  for (const path of (await readFile(`${directory}/hostile.txt`, "utf8")).trim().split("\n")) {
    await open(path);
    const result = await page.evaluate(() => ({
      ran: "hacked" in window,
      scripts: document.querySelectorAll("script").length,
      active: document.querySelectorAll("iframe, object, embed, img, base, meta[http-equiv], link[rel=import]").length,
      handlers: [...document.querySelectorAll("*")].filter((element) =>
        element.getAttributeNames().some((name) => name.startsWith("on") || name === "style")).length,
      links: [...document.querySelectorAll("a[href]")].filter((link) =>
        !/^(https?|mailto):/i.test(link.href)).map((link) => link.href),
      text: document.body.innerText.length,
    }));
    assert.deepEqual(result, { ran: false, scripts: 1, active: 0, handlers: 0, links: [], text: result.text }, path);
    assert.ok(result.text > 200, path);
  }
});

for (const colorScheme of ["light", "dark"]) {
  await trial(`${colorScheme} mode without serious violations of WCAG`, async () => {
    await page.emulateMedia({ colorScheme });
    const exchange = (await readFile(`${directory}/exchange.txt`, "utf8")).trim();
    for (const path of [...PAGES, "/?q=staging+server", exchange, `/forget?exchange=${exchange.split("/")[2]}`]) {
      await open(path);
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
      await page.screenshot({ path: `${directory}/${colorScheme}${path.replace(/\W+/g, "-")}.png` });
      // The policy of the page forbids scripts from elsewhere, so this one is run from outside.
      const result = await page.evaluate(`${axe}; axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })`);
      const found = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      const seen = found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
      assert.deepEqual(seen, [], path);
    }
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [red] = background.match(/\d+/).map(Number);
    assert.ok(colorScheme === "dark" ? red < 60 : red > 200, background);
  });
}

await trial("readable at 360 pixels", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const exchange = (await readFile(`${directory}/exchange.txt`, "utf8")).trim();
  for (const path of [...PAGES, "/?q=staging+server", exchange]) {
    await open(path);
    await page.screenshot({ path: `${directory}/narrow${path.replace(/\W+/g, "-")}.png` });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${path} is ${width} pixels wide`);
  }
});

await trial("everything that a page loads is smaller than 150 kB", async () => {
  let bytes = 0;
  const count = async (response) => { bytes += (await response.body().catch(() => Buffer.alloc(0))).length; };
  const counted = [];
  page.on("response", (response) => counted.push(count(response)));
  await open("/");
  await Promise.all(counted);
  assert.ok(bytes > 10_000 && bytes < 150_000, `${bytes} bytes`);
});

await writeFile(`${directory}/done.txt`, "");
await browser.close();
