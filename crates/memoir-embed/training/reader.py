#!/usr/bin/env python3
"""Train the reader, which finds the sentence that answers a question, and measure it on held-out histories.

    reader.py ASSETS TRAINING OUT [--epochs 5] [--lr 8e-5] [--layers 6 12] [--held 04] [--all]

ASSETS holds the built-in encoder, from which the reader starts, and its vocabulary. TRAINING is the folder of this
script. The reader keeps the encoder's embeddings. It reads a question and a window: consecutive sentences of one
exchange or document, after the title and the words before them. It gives each sentence a score. A score above zero means
that the sentence answers the question.

Asked with `earlier`, a sentence that answered the question at some time, it finds a later sentence that replaces it.

Histories and people whose number is `--held` only measure, unless `--all` is given.
"""

import argparse, json, random, time
from pathlib import Path

import numpy as np, torch, torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import BertWordPieceTokenizer

import histories
from histories import (Data, Example, choose_windows, fact_examples, hardness, history_examples, ids_of, produced,
                       talk_examples, vary, windows_of)

HEADS, HIDDEN, PANEL, QUAD = 12, 384, 16, 4
QUESTION, EARLIER, BEFORE = 40, 40, 32
CLS, SEP, MASK = 101, 102, 103
FOREIGN = -8.0  # the score of a sentence of another history
PARTS = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
         "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"]

parser = argparse.ArgumentParser()
parser.add_argument("assets", type=Path)
parser.add_argument("training", type=Path)
parser.add_argument("out", type=Path)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=8e-5)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--layers", type=int, nargs="*", default=[6], help="train one reader of each depth")
parser.add_argument("--held", default="04")
parser.add_argument("--all", action="store_true")
parser.add_argument("--windows", type=int, default=6)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--mask", type=float, default=0.1)
parser.add_argument("--talk", type=float, default=0.3, help="share of the talk questions in each epoch")
parser.add_argument("--sample", type=int, default=0, help="use only so many histories, to try the script")
parser.add_argument("--start", nargs="*", default=[], help="weights to start from, instead of the encoder's")
parser.add_argument("--focus", default="", help="letters of the histories that every epoch contains")
parser.add_argument("--questions", type=Path, help="questions with the scores of a larger model")
parser.add_argument("--soft", type=float, default=1.0, help="share of those questions in each epoch")
parser.add_argument("--seconds", type=int, default=10**6, help="end the training after this time")
parser.add_argument("--producers", type=int, default=6, help="processes that prepare batches")
parser.add_argument("--share", type=float, default=1.0, help="share of all other questions in each epoch")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

# -- the model --------------------------------------------------------------------------------------------------------


def load_weights(path):
    """Return weights in 32 bits. Those of the built-in models are stored with 8 bits, in panels."""
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


def deepen(tensors, layers):
    """Return weights of more layers: each layer is followed by copies of it that change almost nothing at first."""
    own = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder"))
    out = {name: tensor for name, tensor in tensors.items() if not name.startswith("encoder")}
    for layer in range(layers):
        source = layer * own // layers
        is_copy = layer > 0 and (layer - 1) * own // layers == source
        prefix = f"encoder.layer.{source}."
        scale, shift = (tensors[prefix + "output.LayerNorm." + part] for part in ("weight", "bias"))
        for name in (name for name in tensors if name.startswith(prefix)):
            tensor = tensors[name].clone()
            if is_copy and ".dense." in name and "intermediate" not in name:
                tensor.zero_()
            elif is_copy and name.endswith("LayerNorm.weight"):
                tensor.fill_(float((scale.square().mean() + shift.var()).sqrt()))
            elif is_copy and name.endswith("LayerNorm.bias"):
                tensor.fill_(float(shift.mean()))
            out[name.replace(prefix, f"encoder.layer.{layer}.")] = tensor
    return out


def layer_of(x, visible, drop, query, query_bias, key, key_bias, value, value_bias, output, output_bias, norm, norm_bias,
             inner, inner_bias, outer, outer_bias, last, last_bias):
    """Run one layer."""
    split = [F.linear(x, weight, bias).unflatten(-1, (HEADS, -1)).transpose(1, 2)
             for weight, bias in ((query, query_bias), (key, key_bias), (value, value_bias))]
    mixed = F.scaled_dot_product_attention(*split, attn_mask=visible, dropout_p=drop)
    mixed = F.linear(mixed.transpose(1, 2).flatten(2), output, output_bias)
    x = F.layer_norm(x + F.dropout(mixed, drop), (HIDDEN,), norm, norm_bias, 1e-12)
    wide = F.linear(F.gelu(F.linear(x, inner, inner_bias)), outer, outer_bias)
    return F.layer_norm(x + F.dropout(wide, drop), (HIDDEN,), last, last_bias, 1e-12)


class Reader(torch.nn.Module):
    def __init__(self, tensors, layers):
        super().__init__()
        tensors = deepen(tensors, layers)
        self.layers = layers
        self.names = [name for name in tensors if name.startswith("encoder")]
        self.weights = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.nn.Parameter(tensors[name].clone()) for name in self.names})
        for name in ("word_embeddings.weight", "positions", "LayerNorm.weight", "LayerNorm.bias"):
            self.register_buffer("embeddings_" + name.replace(".", "_"), tensors["embeddings." + name].clone())
        first = torch.randn(HIDDEN, generator=torch.Generator().manual_seed(0)) * 0.02
        self.head = torch.nn.Parameter(tensors.get("head.weight", first).reshape(HIDDEN).clone())
        self.bias = torch.nn.Parameter(tensors.get("head.bias", torch.tensor(-2.0)).reshape(()).clone())
        self.layer = torch.compile(layer_of, dynamic=True) if device == "cuda" else layer_of

    def weight(self, name):
        return self.weights[name.replace(".", "/")]

    def forward(self, ids, spans, drop=0.1):
        """Return one score for each span (row, start, end) of the token ids, which are padded with zeros."""
        drop = drop if self.training else 0.0
        x = self.embeddings_word_embeddings_weight[ids] + self.embeddings_positions[: ids.shape[1]]
        x = F.layer_norm(x, (HIDDEN,), self.embeddings_LayerNorm_weight, self.embeddings_LayerNorm_bias, 1e-12)
        visible = (ids != 0)[:, None, None, :]
        for layer in range(self.layers):
            parts = [f"encoder.layer.{layer}.{part}.{kind}" for part in PARTS for kind in ("weight", "bias")]
            x = self.layer(x, visible, drop, *map(self.weight, parts))
        x = x.float()
        rows, starts, ends = spans
        sums = F.pad(x.cumsum(1), (0, 0, 1, 0))
        means = (sums[rows, ends] - sums[rows, starts]) / (ends - starts).unsqueeze(1)
        return means @ self.head + self.bias


# -- texts ------------------------------------------------------------------------------------------------------------

tokenizer = BertWordPieceTokenizer(str(args.assets / "vocab.txt"), lowercase=True)
histories.encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
data = Data(args.training, args.held, args.all, args.sample)

# -- training ---------------------------------------------------------------------------------------------------------


def before_of(window):
    """Return the title and the words before a window."""
    return " / ".join(part for part in window.before if part)


def assemble(question, earlier, window, mask=0.0, blank=0.0, rng=random):
    """Return the token ids, and the start and end of each sentence."""
    question = ids_of(question)[:QUESTION]
    if mask:
        question = [MASK if rng.random() < mask / 2 else i for i in question]
    ids = [CLS] + question + [SEP]
    if earlier:
        ids += ids_of("earlier: " + earlier)[:EARLIER] + [SEP]
    before = ids_of(before_of(window))
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


def batches(examples, others, rng):
    """Yield batches: token ids and spans, the example of each span, its label, its score by the larger model, and
    which examples have any_of and which such scores."""
    for start in range(0, len(examples) - args.batch + 1, args.batch):
        items, owners, labels, scores, any_of, soft = [], [], [], [], [], []
        for number, example in enumerate(examples[start : start + args.batch]):
            any_of.append(example.any_of)
            soft.append(example.soft is not None)
            if example.soft:
                foreign = rng.choice(rng.choice(others).windows)
                chosen = [(w, example.windows[w]) for w in example.soft] + [(None, foreign)]
            else:
                chosen = choose_windows(example, others, args.windows, rng)
            for place, window in chosen:
                window = vary(example, place, window, chosen[-1][1], rng)
                items.append(assemble(example.question, example.earlier, window, args.mask, 0.2, rng))
                for origin in window.texts:
                    owners.append(number)
                    labels.append(2 if origin in example.excluded else int(origin in example.answers))
                    known = example.soft and origin and origin[0] is not None
                    scores.append(example.soft[origin[0]][origin[1]] if known else FOREIGN)
        yield collate(items), *map(np.array, (owners, labels, scores, any_of, soft))


def prefetched(examples, rng):
    """Yield the batches that other processes make."""
    rng.shuffle(examples)
    part = lambda number: batches(examples[number :: args.producers], examples, random.Random(f"{rng.random()} {number}"))
    return produced(part, args.producers)


def loss_of(scores, owner, label, given, any_of, soft):
    """Rank each answer above all other sentences and above zero, and everything else below zero. Where a larger model
    gave scores, follow them instead."""
    count = len(any_of)
    sizes = np.bincount(owner, minlength=count)
    position = np.concatenate([np.arange(size) for size in sizes])
    position, owner, label, given, any_of, soft = (
        torch.from_numpy(x).to(device) for x in (position, owner, label, given.astype(np.float32), any_of, soft))
    table = torch.full((count, int(sizes.max())), -1e4, device=device)
    labels = torch.full(table.shape, 2, device=device)
    target = table.clone()
    table[owner, position] = scores
    labels[owner, position] = label
    target[owner, position] = given
    zero = torch.zeros(count, 1, device=device)
    negatives = torch.where(labels == 0, table, torch.full_like(table, -1e4))
    against = torch.logsumexp(torch.cat([negatives, zero], 1), 1)
    positive = labels == 1
    # Each answer by itself, or one of those that a message contains.
    each = torch.where(positive, torch.logaddexp(table, against[:, None]) - table, torch.zeros_like(table))
    each = each.sum(1) / positive.sum(1).clamp(min=1)
    together = torch.logsumexp(torch.where(positive, table, torch.full_like(table, -1e4)), 1)
    together = torch.logaddexp(together, against) - together
    has_answer = positive.any(1)
    hard = torch.where(has_answer, torch.where(any_of, together, each), against)
    wanted = torch.softmax(torch.cat([target, zero], 1), 1)
    follow = -(wanted * torch.log_softmax(torch.cat([table, zero], 1), 1)).sum(1)
    return torch.where(soft, follow, hard).mean()


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
    parts = [history_examples(h) for h in data.held]
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
    if data.held_people:
        facts = [fact_examples(p) for p in data.held_people]
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
    middle = len(names) // 2
    for number, part in enumerate((names[:middle], names[middle:]), 1):
        save_file({name: weights[name] for name in part}, args.out / f"reader{model.layers}-{number}.safetensors")


def read_soft():
    """Read the questions that `questions.py` wrote: their history, the windows that were read, and the scores."""
    windows = {history["id"]: histories.history_windows(history) for history in data.histories}
    examples = []
    for line in open(args.questions):
        item = json.loads(line)
        if item["history"] in windows:
            examples.append(Example(item["q"], windows[item["history"]]))
            examples[-1].soft = {int(w): scores for w, scores in item["scores"].items()}
    return examples


def train(models):
    """Train the readers with the same batches."""
    rng = random.Random(args.seed)
    examples, others, talk = [], [], []
    for history in data.histories:
        parts = history_examples(history)
        group = examples if history["id"].startswith(tuple(args.focus)) or not args.focus else others
        group += parts["asked"] + parts["absent"] + parts["updates"] + parts["then"] * 2
        group += [e for e in parts["current"] if rng.random() < 0.35]
    for person in data.people:
        parts = fact_examples(person)
        others += parts["asked"] + parts["absent"]
    for excerpt in data.talks:
        parts = talk_examples(excerpt)
        talk += parts["asked"] + parts["absent"]
    if args.share == 1:
        examples, others = examples + others, []
    soft = read_soft() if args.questions else []
    size = len(examples) + int(args.share * len(others)) + int(args.talk * len(talk)) + int(args.soft * len(soft))
    steps = args.epochs * (size // args.batch)
    warm = max(1, steps // 12)
    done = lambda step: max(step / max(1, steps), (time.time() - started) / args.seconds)
    rate = lambda step: min(1, (step + 1) / warm) * max(0.02, 1 - done(step))
    optimizers = [torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01, fused=device == "cuda")
                  for model in models]
    for example in examples + others + talk + soft:
        ids_of(example.question)
        if example.soft is None:
            hardness(example)
    for window in {id(window): window for example in examples + others + talk for window in example.windows}.values():
        ids_of(before_of(window))
    started = time.time()
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimizer, rate) for optimizer in optimizers]
    print(f"{len(examples)} examples, {len(others)} others, {len(talk)} of talk, {len(soft)} with scores, {steps} steps", flush=True)
    for epoch in range(args.epochs):
        totals, count = [0.0] * len(models), 0
        chosen = examples + rng.sample(others, int(args.share * len(others)))
        chosen += rng.sample(talk, int(args.talk * len(talk))) + rng.sample(soft, int(args.soft * len(soft)))
        for arrays, *labels in prefetched(chosen, random.Random(1000 * args.seed + epoch)):
            ids, spans = to_device(arrays)
            for number, (model, optimizer, schedule) in enumerate(zip(models, optimizers, schedules)):
                model.train()
                with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                    scores = model(ids, spans)
                loss = loss_of(scores.float(), *labels)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                totals[number] += loss.detach()
            count += 1
            if time.time() - started > args.seconds:
                break
        losses = ", ".join(f"{float(total) / max(1, count):.3f}" for total in totals)
        print(f" epoch {epoch + 1}: loss {losses}, {time.time() - started:.0f} s", flush=True)
        for model in models:
            save(model)
        if time.time() - started > args.seconds:
            break


def main():
    torch.manual_seed(args.seed)
    tensors = load_weights(args.assets / "model.safetensors")
    for path in args.start:
        tensors |= load_weights(path)
    models = [Reader(tensors, layers).to(device) for layers in args.layers]
    train(models)
    for model in models:
        print(f"{model.layers} layers")
        measure(model)


main()
