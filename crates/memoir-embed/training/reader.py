#!/usr/bin/env python3
"""Train the reader, which finds the sentence that answers a question, and measure it on held-out histories.

    reader.py ASSETS TRAINING OUT [--epochs 5] [--lr 8e-5] [--seeds 1,2] [--held 04] [--all]

ASSETS holds the built-in encoder, from which the reader starts, and its vocabulary. TRAINING is the folder of this
script. The reader keeps the encoder's embeddings. It reads a question and a window: consecutive sentences of one
exchange or document, after the title and the words before them. It gives each sentence a score. A score above zero means
that the sentence answers the question.

Asked with `earlier`, a sentence that answered the question at some time, it finds a later sentence that replaces it.

Histories and people whose number is `--held` only measure, unless `--all` is given.
"""

import argparse, glob, json, multiprocessing, random, re, time
from pathlib import Path

import numpy as np, torch, torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import BertWordPieceTokenizer

LAYERS, HEADS, HIDDEN, PANEL, QUAD = 6, 12, 384, 16, 4
QUESTION, EARLIER, BEFORE, UNIT, WINDOW = 40, 40, 32, 80, 136
CLS, SEP, MASK = 101, 102, 103
LINEAR = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense"]

parser = argparse.ArgumentParser()
parser.add_argument("assets", type=Path)
parser.add_argument("training", type=Path)
parser.add_argument("out", type=Path)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=8e-5)
parser.add_argument("--seeds", default="1")
parser.add_argument("--held", default="04")
parser.add_argument("--all", action="store_true")
parser.add_argument("--windows", type=int, default=6)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--mask", type=float, default=0.1)
parser.add_argument("--talk", type=float, default=0.3, help="share of the talk questions in each epoch")
parser.add_argument("--sample", type=int, default=0, help="use only so many histories, to try the script")
parser.add_argument("--tag", default="reader")
parser.add_argument("--start", nargs="*", default=[], help="weights to start from, instead of the encoder's")
parser.add_argument("--focus", default="", help="letter of the histories that every epoch contains")
parser.add_argument("--share", type=float, default=1.0, help="share of all other questions in each epoch")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

# -- the model --------------------------------------------------------------------------------------------------------


def load_encoder(path):
    """Return the built-in encoder's weights in 32 bits."""
    tensors = {}
    with safe_open(str(path), "pt") as file:
        raw = {name: file.get_tensor(name) for name in file.keys()}
    for name, tensor in raw.items():
        if name.endswith((".scale", ".sum")):
            continue
        if name + ".scale" in raw:
            scale = raw[name + ".scale"]
            if name.startswith("encoder"):
                rows = scale.shape[0]
                columns = tensor.numel() // rows
                panels = tensor.reshape(rows // PANEL, columns // QUAD, PANEL, QUAD)
                tensor = panels.permute(0, 2, 1, 3).reshape(rows, columns)
            tensor = tensor.float().reshape(scale.shape[0], -1) * scale[:, None]
        tensors[name] = tensor.float()
    return tensors


class Reader(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        self.names = [name for name in tensors if name.startswith("encoder")]
        self.weights = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.nn.Parameter(tensors[name].clone()) for name in self.names})
        for name in ("word_embeddings.weight", "positions", "LayerNorm.weight", "LayerNorm.bias"):
            self.register_buffer("embeddings_" + name.replace(".", "_"), tensors["embeddings." + name].clone())
        generator = torch.Generator().manual_seed(0)
        self.head = torch.nn.Parameter(torch.randn(HIDDEN, generator=generator) * 0.02)
        self.bias = torch.nn.Parameter(torch.tensor(-2.0))

    def load(self, tensors):
        """Replace some of the weights."""
        heads = {"head.weight": self.head, "head.bias": self.bias}
        with torch.no_grad():
            for name, tensor in tensors.items():
                own = heads[name] if name in heads else self.weight(name)
                own.copy_(tensor.float().reshape(own.shape))

    def weight(self, name):
        return self.weights[name.replace(".", "/")]

    def linear(self, x, name):
        return F.linear(x, self.weight(name + ".weight"), self.weight(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, (HIDDEN,), self.weight(name + ".weight"), self.weight(name + ".bias"), 1e-12)

    def forward(self, ids, spans, drop=0.1):
        """Return one score for each span (row, start, end) of the token ids, which are padded with zeros."""
        drop = drop if self.training else 0.0
        x = self.embeddings_word_embeddings_weight[ids] + self.embeddings_positions[: ids.shape[1]]
        x = F.layer_norm(x, (HIDDEN,), self.embeddings_LayerNorm_weight, self.embeddings_LayerNorm_bias, 1e-12)
        visible = (ids != 0)[:, None, None, :]
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            split = [self.linear(x, name + "attention.self." + part).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                     for part in ("query", "key", "value")]
            mixed = F.scaled_dot_product_attention(*split, attn_mask=visible, dropout_p=drop)
            mixed = self.linear(mixed.transpose(1, 2).flatten(2), name + "attention.output.dense")
            x = self.norm(x + F.dropout(mixed, drop), name + "attention.output.LayerNorm")
            inner = self.linear(F.gelu(self.linear(x, name + "intermediate.dense")), name + "output.dense")
            x = self.norm(x + F.dropout(inner, drop), name + "output.LayerNorm")
        x = x.float()
        rows, starts, ends = spans
        sums = F.pad(x.cumsum(1), (0, 0, 1, 0))
        means = (sums[rows, ends] - sums[rows, starts]) / (ends - starts).unsqueeze(1)
        return means @ self.head + self.bias


# -- texts ------------------------------------------------------------------------------------------------------------

tokenizer = BertWordPieceTokenizer(str(args.assets / "vocab.txt"), lowercase=True)
known_ids = {}


def ids_of(text):
    if text not in known_ids:
        known_ids[text] = tokenizer.encode(text, add_special_tokens=False).ids
    return known_ids[text]


ABBREVIATIONS = {"dr", "mr", "mrs", "ms", "st", "e.g", "i.e", "etc", "vs", "approx", "ca", "jr", "prof", "inc", "z.b"}


def sentences(line):
    found, start = [], 0
    for index, character in enumerate(line):
        if character not in ".!?" or line[index + 1 : index + 2] != " ":
            continue
        before = re.split(r"[ (]", line[start:index])[-1].lower()
        after = line[index + 1 :].lstrip()[:1]
        initial = len(before) == 1 and before.isalpha()
        if character == "." and (before in ABBREVIATIONS or initial or (after.islower() and len(before) <= 3)):
            continue
        found.append(line[start : index + 1].strip())
        start = index + 1
    return [s for s in found + [line[start:].strip()] if s]


def split(text):
    """Split a text as the program does: pairs of what is quoted and what is read."""
    units, columns, headings, code = [], [], [], False
    lines = [line.strip() for line in text.split("\n")]
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        is_rule = lambda line: line.startswith("|") and set(line) <= set("|-: ")
        if line.startswith("```"):
            code = not code
        elif code:
            units.append((line, line, list(headings)))
        elif not line:
            columns = []
        elif re.match(r"#+ ", line):
            depth = len(line) - len(line.lstrip("#"))
            headings = headings[: depth - 1] + [line.lstrip("# ")]
        elif is_rule(line):
            pass
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if is_rule(following):
                columns = cells
                continue
            named = [f"{columns[i]}: {c}" if i < len(columns) and columns[i] else c for i, c in enumerate(cells)]
            units.append((" | ".join(cells), ", ".join(named), list(headings)))
        else:
            line = re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", line.removeprefix("> ").strip())
            for sentence in sentences(line):
                sentence = sentence.replace("**", "").replace("`", "")
                if not (sentence.endswith(":") and index + 1 < len(lines)):
                    units.append((sentence, sentence, list(headings)))
    return [unit for unit in units if len(unit[0]) >= 3]


class Window:
    """Consecutive sentences that are read together."""

    def __init__(self, before, group):
        self.before, self.group, self.texts, self.units, self.date, self.stems = before, group, [], [], "", None

    def size(self):
        return sum(len(unit) + 1 for unit in self.units)


def windows_of(group, title, parts, date=""):
    """Pack parts (speaker, text, quoted text) into windows. `title` and the words before a window precede it."""
    windows, last = [], ""
    for speaker, read, quoted in parts:
        unit = ids_of(f"{speaker}: {read}")[:UNIT]
        if not windows or windows[-1].size() + len(unit) + 1 > WINDOW:
            windows.append(Window((title[:40], last[-120:]), group))
            windows[-1].date = date
        windows[-1].texts.append(quoted)
        windows[-1].units.append(unit)
        last = f"{speaker}: {read}"
    return windows


def history_windows(history):
    windows = []
    for number, conversation in enumerate(history["conversations"]):
        exchange, last, exchanges = [], "", []
        for message in conversation["messages"]:
            if message["by"] == "user" and exchange:
                exchanges.append((exchange, last))
                exchange = []
            if not exchange:
                last = previous if exchanges else ""
            exchange += [(message["by"], read, quoted) for quoted, read, _ in split(message["text"])]
            previous = message["text"].replace("\n", " ")
        exchanges.append((exchange, last))
        for place, (parts, last) in enumerate(exchanges):
            packed = windows_of((number, place), conversation["title"], parts, conversation["date"])
            if packed and last:
                packed[0].before = (packed[0].before[0], last[-120:])
            windows += packed
    for number, document in enumerate(history.get("documents", [])):
        sections = {}
        for quoted, read, headings in split(document["text"]):
            sections.setdefault(" / ".join(headings), []).append(("document", read, quoted))
        for heading, parts in sections.items():
            title = (document["title"] + " / " + heading)[-40:] if heading else document["title"]
            windows += windows_of(("document", number), title, parts, document["date"])
    return windows


def plain(text):
    return re.sub(r"\W+", " ", text.lower()).strip()


def matches(unit, answer):
    a, b = plain(unit), plain(answer)
    return a == b or (len(a) >= 12 and len(b) >= 12 and (a in b or b in a))


class Example:
    """A question, the windows to read, and the places (window, unit) of sentences that answer it."""

    def __init__(self, question, windows, answers=(), earlier="", any_of=False, excluded=(), newest=None):
        self.question, self.windows, self.answers, self.earlier = question, windows, set(answers), earlier
        self.any_of, self.excluded, self.newest = any_of, set(excluded), newest
        self.hard = None


def find(windows, answer):
    exact = [(w, u) for w, window in enumerate(windows) for u, t in enumerate(window.texts) if plain(t) == plain(answer)]
    return exact or [(w, u) for w, window in enumerate(windows) for u, t in enumerate(window.texts) if matches(t, answer)]


def history_examples(history):
    windows = history_windows(history)
    examples = {"asked": [], "absent": [], "updates": [], "current": [], "then": []}
    for asked in history["asked"]:
        newest = find(windows, asked["answer"])
        outdated = [place for text in asked.get("outdated", []) for place in find(windows, text)]
        if not newest:
            continue
        examples["asked"].append(Example(asked["q"], windows, newest + outdated, newest=set(newest)))
        newer = lambda place: [w for w in windows if w.date > windows[place[0]].date]
        for w, u in outdated:
            later = newer((w, u))
            found = find(later, asked["answer"])
            if found:
                examples["updates"].append(Example(asked["q"], later, found, earlier=windows[w].texts[u]))
        later = newer(newest[0])
        if later:
            earlier = windows[newest[0][0]].texts[newest[0][1]]
            examples["current"].append(Example(asked["q"], later, earlier=earlier))
    for then in history.get("then", []):
        asked = history["asked"][then["after"]]
        found = find(windows, then["answer"])
        first = [p for text in [asked["answer"]] for p in find(windows, text)]
        if found and not set(found) & set(first):
            question = asked["q"] + " " + then["q"]
            examples["then"].append(Example(question, windows, found, excluded=first, newest=set(found)))
    examples["absent"] = [Example(question, windows) for question in history["absent"]]
    return examples


def fact_examples(person):
    windows = []
    for number, fact in enumerate(person["facts"]):
        windows += windows_of(number, "", [("user", fact["said"], fact["said"])])
    examples = {"asked": [], "absent": []}
    for number, fact in enumerate(person["facts"]):
        replaced = {other["replaces"] for other in person["facts"] if "replaces" in other and other["replaces"] is not None}
        same = {number}
        for _ in range(4):
            same |= {i for i, other in enumerate(person["facts"]) if other.get("replaces") in same and other.get("replaces") is not None}
            same |= {person["facts"][i]["replaces"] for i in same if person["facts"][i].get("replaces") is not None}
        answers = [(w, 0) for w, window in enumerate(windows) if window.group in same]
        examples["asked"] += [Example(q, windows, answers, newest=set(answers)) for q in fact["asked"]]
        if number not in replaced:
            examples["absent"] += [Example(q, windows) for q in fact["absent"]]
    return examples


def talk_examples(excerpt):
    windows, place = [], {}
    parts = []
    for number, message in enumerate(excerpt["messages"]):
        for quoted, read, _ in split(message["text"]):
            parts.append((message["by"], read, (number, quoted)))
    windows = windows_of(0, "", [(by, read, quoted) for by, read, quoted in parts])
    for w, window in enumerate(windows):
        for u, (number, quoted) in enumerate(window.texts):
            place.setdefault(number, []).append((w, u))
        window.texts = [quoted for _, quoted in window.texts]
    asked = [Example(a["q"], windows, [p for e in a["evidence"] for p in place.get(e, [])], any_of=True)
             for a in excerpt["asked"]]
    return {"asked": [e for e in asked if e.answers], "absent": [Example(q, windows) for q in excerpt.get("absent", [])]}


def read_lines(pattern):
    return [json.loads(line) for path in sorted(glob.glob(str(pattern))) for line in open(path) if line.strip()]


histories = read_lines(args.training / "answers/histories-*.jsonl")
people = read_lines(args.training / "answers/facts*.jsonl")
talks = read_lines(args.training / "talk/*.jsonl") + read_lines(args.training / "answers/talk-*.jsonl")
if args.sample:
    histories, people, talks = histories[:: len(histories) // args.sample], people[:4], talks[: args.sample]
is_held = lambda item: item["id"].endswith("-" + args.held)
held, held_people = [h for h in histories if is_held(h)], [p for p in people if is_held(p)]
if not args.all:
    histories = [h for h in histories if not is_held(h)]
    people = [p for p in people if not is_held(p)]
stop = set("the a an of to in is are was were do does did what which who when where how why my i we our you it that this "
           "for on at with and or not be have has had as by from".split())


def stems(text):
    return {word[:5] for word in plain(text).split() if word not in stop}


def hardness(example):
    """Order the windows by the words that they share with the question, the most tempting first."""
    if example.hard is None:
        words = stems(example.question)
        for window in example.windows:
            if window.stems is None:
                window.stems = stems(" ".join(window.texts))
        example.hard = sorted(range(len(example.windows)), key=lambda w: -len(words & example.windows[w].stems))
    return example.hard


# -- training ---------------------------------------------------------------------------------------------------------


def assemble(question, earlier, window, mask=0.0, blank=0.0, rng=random):
    """Return the token ids, and the start and end of each sentence."""
    question = ids_of(question)[:QUESTION]
    if mask:
        question = [MASK if rng.random() < mask / 2 else i for i in question]
    ids = [CLS] + question + [SEP]
    if earlier:
        ids += ids_of("earlier: " + earlier)[:EARLIER] + [SEP]
    title, last = window.before
    before = ids_of(" / ".join(part for part in (title, last) if part))
    if not (blank and rng.random() < blank):
        ids += before[:BEFORE]
    ids += [SEP]
    spans = []
    for unit in window.units:
        spans.append((len(ids), len(ids) + len(unit)))
        ids += [MASK if mask and rng.random() < mask else i for i in unit] + [SEP]
    return ids, spans


def collate(items):
    """Pad token ids, and number the spans of all rows."""
    longest = max(len(ids) for ids, _ in items)
    ids = np.zeros((len(items), longest), np.int64)
    spans = []
    for row, (tokens, found) in enumerate(items):
        ids[row, : len(tokens)] = tokens
        spans += [(row, start, end) for start, end in found]
    return ids, np.array(spans, np.int64).T


def to_device(arrays):
    ids, spans = arrays
    return torch.from_numpy(ids).to(device), [torch.from_numpy(np.ascontiguousarray(x)).to(device) for x in spans]


def choose_windows(example, others, rng):
    """Return windows with answers, tempting ones, random ones and one of another history."""
    answering = sorted({w for w, _ in example.answers})
    if len(answering) > 2:
        answering = rng.sample(answering, 2)
    rest = [w for w in hardness(example)[:8] if w not in answering]
    count = max(1, args.windows - len(answering) - 1)
    chosen = rng.sample(rest, min(len(rest), count))
    chosen = [(w, example.windows[w]) for w in answering + chosen]
    foreign = rng.choice(others)
    return chosen + [(None, rng.choice(foreign.windows))]


def vary(example, place, window, foreign, rng):
    """Return a variation of a window, and the place of each of its sentences, so that neither the first sentence after
    a question nor one next to the answer counts as the answer."""
    units = [(unit, (place, number)) for number, unit in enumerate(window.units)]
    is_answer = lambda unit: unit[1] in example.answers
    varied = Window(window.before, window.group)
    if rng.random() < 0.25:
        answers = [unit for unit in units if is_answer(unit)]
        chosen = rng.choice(answers or units)
        if len(chosen[0]) >= 8:
            units = [chosen]
            varied.before = (window.before[0] if rng.random() < 0.5 else "", "")
    else:
        units = [unit for unit in units if is_answer(unit) or rng.random() >= 0.12] or units
        if rng.random() < 0.4:
            number = rng.randrange(len(foreign.units))
            units.insert(rng.randrange(len(units) + 1), (foreign.units[number], None))
        if rng.random() < 0.3:
            rng.shuffle(units)
    size = 0
    for unit, origin in units:
        if size + len(unit) + 1 <= WINDOW or is_answer((unit, origin)):
            varied.units.append(unit[: max(4, WINDOW - size - 1)])
            varied.texts.append(origin)
            size += len(unit) + 1
        if size > WINDOW - 6:
            break
    return varied


def batches(examples, rng):
    """Yield batches: token ids and spans, the example of each span, its label, and which examples have any_of."""
    rng.shuffle(examples)
    for start in range(0, len(examples) - args.batch + 1, args.batch):
        items, owners, labels, any_of = [], [], [], []
        for number, example in enumerate(examples[start : start + args.batch]):
            any_of.append(example.any_of)
            chosen = choose_windows(example, examples, rng)
            for place, window in chosen:
                window = vary(example, place, window, chosen[-1][1], rng)
                items.append(assemble(example.question, example.earlier, window, args.mask, 0.2, rng))
                for origin in window.texts:
                    owners.append(number)
                    labels.append(2 if origin in example.excluded else int(origin in example.answers))
        yield collate(items), np.array(owners), np.array(labels), np.array(any_of)


def prefetched(examples, rng):
    """Yield the batches that another process makes."""
    queue = multiprocessing.Queue(maxsize=32)

    def produce():
        for batch in batches(examples, rng):
            queue.put(batch)
        queue.put(None)

    process = multiprocessing.Process(target=produce)
    process.start()
    while (batch := queue.get()) is not None:
        yield batch
    process.join()


def loss_of(scores, owner, label, any_of):
    """Rank each answer above all other sentences and above zero, and everything else below zero."""
    count = len(any_of)
    sizes = np.bincount(owner, minlength=count)
    position = torch.from_numpy(np.concatenate([np.arange(size) for size in sizes])).to(device)
    owner, label, any_of = (torch.from_numpy(x).to(device) for x in (owner, label, any_of))
    table = torch.full((count, int(sizes.max())), -1e4, device=device)
    labels = torch.full(table.shape, 2, device=device)
    table[owner, position] = scores
    labels[owner, position] = label
    negatives = torch.where(labels == 0, table, torch.full_like(table, -1e4))
    zero = torch.zeros(count, 1, device=device)
    against = torch.logsumexp(torch.cat([negatives, zero], 1), 1)
    positive = labels == 1
    # Each answer by itself, or one of those that a message contains.
    each = torch.where(positive, torch.logaddexp(table, against[:, None]) - table, torch.zeros_like(table))
    each = each.sum(1) / positive.sum(1).clamp(min=1)
    together = torch.logsumexp(torch.where(positive, table, torch.full_like(table, -1e4)), 1)
    together = torch.logaddexp(together, against) - together
    has_answer = positive.any(1)
    loss = torch.where(has_answer, torch.where(any_of, together, each), against)
    return loss.mean()


@torch.no_grad()
def score_all(model, pairs):
    """Return the scores of the sentences of each (question, earlier, window)."""
    model.eval()
    assembled = [assemble(*pair) for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda i: len(assembled[i][0]))
    out = [None] * len(pairs)
    for start in range(0, len(order), 512):
        part = order[start : start + 512]
        ids, spans = to_device(collate([assembled[i] for i in part]))
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores = model(ids, spans).float().cpu().tolist()
        for i in part:
            count = len(assembled[i][1])
            out[i], scores = scores[:count], scores[count:]
    return out


def best_of(model, examples):
    """Return the best sentence of each example as (score, place)."""
    pairs = [(e.question, e.earlier, window) for e in examples for window in e.windows]
    scores = iter(score_all(model, pairs))
    best = []
    for example in examples:
        found = [(s, (w, u)) for w in range(len(example.windows)) for u, s in enumerate(next(scores))]
        best.append(max((f for f in found if f[1] not in example.excluded), default=(-99.0, None)))
    return best


def auc(positive, negative):
    values = sorted([(v, 1) for v in positive] + [(v, 0) for v in negative])
    ranks = sum(i + 1 for i, (_, is_positive) in enumerate(values) if is_positive)
    n, m = len(positive), len(negative)
    return (ranks - n * (n + 1) / 2) / max(1, n * m)


def measure(model):
    parts = [history_examples(h) for h in held]
    asked = [e for p in parts for e in p["asked"]]
    absent = [e for p in parts for e in p["absent"]]
    best, none = best_of(model, asked), best_of(model, absent)
    found = [place in e.answers for e, (_, place) in zip(asked, best)]
    newest = [place in e.newest for e, (_, place) in zip(asked, best)]
    print(f"  histories: found {np.mean(found):.3f}, newest {np.mean(newest):.3f}, "
          f"AUC {auc([s for s, _ in best], [s for s, _ in none]):.3f}", end="")
    for threshold in (-1.0, 0.0, 1.0):
        answered = np.mean([f and s > threshold for f, (s, _) in zip(found, best)])
        print(f"; above {threshold}: {answered:.3f} right, {np.mean([s <= threshold for s, _ in none]):.3f} absent", end="")
    updates = [e for p in parts for e in p["updates"]]
    current = [e for p in parts for e in p["current"]]
    up, cur = best_of(model, updates), best_of(model, current)
    print(f"\n  updates: found {np.mean([p in e.answers for e, (_, p) in zip(updates, up)]):.3f}, "
          f"above zero {np.mean([p in e.answers and s > 0 for e, (s, p) in zip(updates, up)]):.3f}, "
          f"wrong {np.mean([s > 0 for s, _ in cur]):.3f}, AUC {auc([s for s, _ in up], [s for s, _ in cur]):.3f}")
    then = [e for p in parts for e in p["then"]]
    if then:
        print(f"  follow-ups ({len(then)}): {np.mean([p in e.answers for e, (_, p) in zip(then, best_of(model, then))]):.3f}")
    if held_people:
        facts = [fact_examples(p) for p in held_people]
        asked, absent = [e for p in facts for e in p["asked"]], [e for p in facts for e in p["absent"]]
        best, none = best_of(model, asked), best_of(model, absent)
        print(f"  facts: found {np.mean([p in e.answers for e, (_, p) in zip(asked, best)]):.3f}, above zero "
              f"{np.mean([p in e.answers and s > 0 for e, (s, p) in zip(asked, best)]):.3f}, "
              f"absent {np.mean([s <= 0 for s, _ in none]):.3f}, AUC {auc([s for s, _ in best], [s for s, _ in none]):.3f}")
    probes = [("Where does Klara live?", "My sister Klara lives in Porto"), ("Where is my sister?", "My sister Klara lives in Porto"),
              ("What is Tomo's surname?", "Tomo came by with cake."), ("stock options", "Ramen broth at home: pork bones, twelve hours, kombu and patience."),
              ("japanese noodle soup stock", "Ramen broth at home: pork bones, twelve hours, kombu and patience."),
              ("how did I make the noodle soup stock?", "Ramen broth at home: pork bones, twelve hours, kombu and patience.")]
    print("  " + ", ".join(f"{score_all(model, [(q, '', windows_of(0, '', [('user', s, s)])[0])])[0][0]:.1f}" for q, s in probes), flush=True)


def save(model):
    weights = {name: model.weight(name).detach().half().cpu().contiguous() for name in model.names}
    weights["head.weight"], weights["head.bias"] = model.head.detach().cpu(), model.bias.detach().cpu().reshape(1)
    names = sorted(weights)
    half = [n for n in names if n.startswith(("encoder.layer.0", "encoder.layer.1", "encoder.layer.2"))]
    save_file({n: weights[n] for n in half}, args.out / f"{args.tag}-1.safetensors")
    save_file({n: weights[n] for n in names if n not in half}, args.out / f"{args.tag}-2.safetensors")


def train(tensors, seed):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = Reader(tensors)
    for path in args.start:
        model.load(load_file(path))
    model.to(device)
    examples, others, talk = [], [], []
    for history in histories:
        parts = history_examples(history)
        group = examples if history["id"].startswith(args.focus) else others
        group += parts["asked"] + parts["absent"] + parts["updates"] + parts["then"] * 2
        group += [e for e in parts["current"] if rng.random() < 0.35]
    for person in people:
        parts = fact_examples(person)
        others += parts["asked"] + parts["absent"]
    for excerpt in talks:
        parts = talk_examples(excerpt)
        talk += parts["asked"] + parts["absent"]
    if args.share == 1:
        examples, others = examples + others, []
    size = len(examples) + int(args.share * len(others)) + int(args.talk * len(talk))
    steps = args.epochs * (size // args.batch)
    groups = [{"params": [p for n, p in model.named_parameters()], "lr": args.lr}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    warm = max(1, steps // 12)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min(1, (s + 1) / warm) * max(0.02, 1 - s / max(1, steps)))
    for example in examples + others + talk:
        hardness(example)
        ids_of(example.question)
    started = time.time()
    print(f"seed {seed}: {len(examples)} examples, {len(others)} others, {len(talk)} of talk, {steps} steps", flush=True)
    for epoch in range(args.epochs):
        model.train()
        total = count = 0
        chosen = examples + rng.sample(others, int(args.share * len(others)))
        chosen += rng.sample(talk, int(args.talk * len(talk)))
        for arrays, owner, label, any_of in prefetched(chosen, random.Random(1000 * seed + epoch)):
            ids, spans = to_device(arrays)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = model(ids, spans)
            loss = loss_of(scores.float(), owner, label, any_of)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total, count = total + loss.detach(), count + 1
        print(f" epoch {epoch + 1}: loss {float(total) / max(1, count):.3f}, {time.time() - started:.0f} s", flush=True)
        save(model)
        if epoch == args.epochs - 1:
            measure(model)
    return model


def main():
    tensors = load_encoder(args.assets / "model.safetensors")
    models = [train(tensors, int(seed)) for seed in args.seeds.split(",")]
    model = models[0]
    if len(models) > 1:
        states = [m.state_dict() for m in models]
        model.load_state_dict({name: sum(s[name] for s in states) / len(states) for name in states[0]})
        print("average")
        measure(model)
    save(model)


main()
