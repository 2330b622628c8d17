#!/usr/bin/env python3
"""Fine-tune the encoder for conversations, and measure dense recall before, during and after.

    train.py FOLDER OUT [--epochs N] [--lr X] [--seeds 1,2] [--save 1.0]

FOLDER holds `minilm/` (the published weights and tokenizer), `groups.jsonl` (from `prepare.py`) and `eval/`. A message is
scored as recall does it: 0.5 cos(q, m) + 0.7 cos(q, m + previous), with names removed from half of the questions.
`--save 0.8` averages the result with the published weights.
"""

import argparse, json, random, sys, time, glob
import numpy as np, torch, torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer
from safetensors.torch import save_file

ap = argparse.ArgumentParser()
ap.add_argument("carry")
ap.add_argument("out")
ap.add_argument("--epochs", type=int, default=4)
ap.add_argument("--lr", type=float, default=3e-5)
ap.add_argument("--temp", type=float, default=0.05)
ap.add_argument("--batch", type=int, default=48)
ap.add_argument("--negs", type=int, default=7)
ap.add_argument("--keep", type=float, default=0.5)
ap.add_argument("--groups", default="groups.jsonl")
ap.add_argument("--tag", default="m")
ap.add_argument("--base", default="minilm")
ap.add_argument("--pool", default="mean")
ap.add_argument("--quiet", action="store_true")
ap.add_argument("--kinds", default="")
ap.add_argument("--seeds", default="1")
ap.add_argument("--save", type=float, default=-1)
a = ap.parse_args()
dev = "cuda"
if a.base == "minilm":
    tok = AutoTokenizer.from_pretrained(a.carry + "/minilm")
    load = lambda: AutoModel.from_pretrained(a.carry + "/minilm", dtype=torch.float32)
else:
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    from safetensors.torch import load_file

    tok = PreTrainedTokenizerFast(
        tokenizer_file=f"{a.carry}/{a.base}/tokenizer.json",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )
    q = load_file(f"{a.carry}/{a.base}/q.safetensors")
    sd = {}
    for k, v in q.items():
        if k.endswith(".qscale"):
            continue
        sd[k] = v.float() * q[k + ".qscale"].unsqueeze(1) if k + ".qscale" in q else v.float()

    def load():
        m = BertModel(
            BertConfig(
                vocab_size=30522,
                hidden_size=384,
                num_hidden_layers=12,
                num_attention_heads=12,
                intermediate_size=1536,
                max_position_embeddings=512,
            ),
            add_pooling_layer=False,
        )
        missing, extra = m.load_state_dict(sd, strict=False)
        assert not extra and all("position_ids" in x or "token_type_ids" in x for x in missing), (missing, extra)
        return m


base = load().to(dev).eval()
model = load().to(dev)


def enc(m, texts, n=128):
    t = tok(texts, padding=True, truncation=True, max_length=n, return_tensors="pt", return_token_type_ids=False).to(
        dev
    )
    with torch.autocast("cuda", dtype=torch.bfloat16):
        h = m(**t).last_hidden_state
    if a.pool == "cls":
        return F.normalize(h[:, 0].float(), dim=-1)
    k = t["attention_mask"].unsqueeze(-1).float()
    return F.normalize((h.float() * k).sum(1) / k.sum(1), dim=-1)


def enc_all(m, texts, bs=512):
    out = [None] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    with torch.no_grad():
        for i in range(0, len(order), bs):
            v = enc(m, [texts[j] for j in order[i : i + bs]], 256)
            for j, x in zip(order[i : i + bs], v):
                out[j] = x
    return torch.stack(out)


import re


def without(q, names):
    for n in names:
        q = re.sub(r"\b%s(?:'s|’s)?\b" % re.escape(n), " ", q, flags=re.I)
    return re.sub(r"\s+", " ", q).strip() or q


evals = {}
for f in ("locomo-dev", "realtalk-dev", "beam-dev", "assistant"):
    evals[f] = json.load(open(f"{a.carry}/eval/{f}.json"))


def measure(m, only=None):
    m.eval()
    res = {}
    for name, data in evals.items():
        if only and name not in only:
            continue
        r10, r5, mrr, n = 0, 0, 0, 0
        for c in data:
            turns = [(t["id"], t["text"], t["speaker"]) for s in c["sessions"] for t in s["turns"]]
            first = {s["turns"][0]["id"] for s in c["sessions"] if s["turns"]}
            qs = [q for q in c["questions"] if q["evidence"]]
            if not turns or not qs:
                continue
            v = enc_all(m, [t[1] or "." for t in turns])
            tog = v.clone()
            for i in range(1, len(turns)):
                if turns[i][0] not in first:
                    tog[i] = F.normalize(v[i] + v[i - 1], dim=0)
            names = {t[2] for t in turns} - {"user", "assistant"}
            names |= {x.split()[0] for x in names}
            qv = enc_all(m, [without(q["question"], names) for q in qs])
            A, T = qv @ v.T, qv @ tog.T
            S = (
                0.5 * A.clamp(min=0) / A.max(1, keepdim=True).values
                + 0.7 * T.clamp(min=0) / T.max(1, keepdim=True).values
            )
            rank = S.argsort(1, descending=True)[:, :200].cpu().numpy()
            for q, r in zip(qs, rank):
                ids = [turns[i][0] for i in r]
                ev = set(q["evidence"])
                n += 1
                r10 += len(ev & set(ids[:10])) / len(ev)
                r5 += len(ev & set(ids[:5])) / len(ev)
                p = next((i for i, x in enumerate(ids) if x in ev), None)
                mrr += 0 if p is None else 1 / (p + 1)
        res[name] = (round(100 * r5 / n, 1), round(100 * r10 / n, 1), round(100 * mrr / n, 1))
    return res


print("base", measure(model), flush=True)
groups = [json.loads(l) for l in open(f"{a.carry}/{a.groups}")]
if a.kinds:
    groups = [g for g in groups if any(g["kind"].startswith(k) for k in a.kinds.split(","))]
print(len(groups), "groups", flush=True)
runs = []
for seed in (int(x) for x in a.seeds.split(",")):
    torch.manual_seed(seed)
    random.seed(seed)
    model.load_state_dict(base.state_dict())
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, weight_decay=0.01)
    steps = a.epochs * (len(groups) // a.batch)
    warm = max(1, steps // 10)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / warm) * max(0.02, 1 - s / max(1, steps)))
    t0 = time.time()
    step = 0
    for e in range(a.epochs):
        random.shuffle(groups)
        model.train()
        tot = 0
        for b in range(0, len(groups) - a.batch + 1, a.batch):
            g = groups[b : b + a.batch]
            qs = [random.choice((x["q"], x["q2"])) for x in g]
            P = [random.choice(x["pos"]) for x in g]
            N = [n for x in g for n in random.sample(x["neg"], min(a.negs, len(x["neg"])))]
            own = [i for i, x in enumerate(g) for _ in range(min(a.negs, len(x["neg"])))]
            cand = P + N
            texts = [c[0] for c in cand] + [c[1] or "." for c in cand]
            q = enc(model, qs, 64)
            v = enc(model, texts, 256)
            m_, p_ = v[: len(cand)], v[len(cand) :]
            has = torch.tensor([bool(c[1]) for c in cand], device=dev).unsqueeze(1)
            tog = torch.where(has, F.normalize(m_ + p_, dim=-1), m_)
            s = (0.42 * q @ m_.T + 0.58 * q @ tog.T) / a.temp
            # other positives of the same question are no negatives
            mask = torch.zeros_like(s, dtype=torch.bool)
            for i, x in enumerate(g):
                poss = {p[0] for p in x["pos"]}
                for j, c in enumerate(cand):
                    if j != i and c[0] in poss:
                        mask[i, j] = True
            s = s.masked_fill(mask, -1e4)
            loss = F.cross_entropy(s, torch.arange(len(g), device=dev))
            if a.keep:
                sample = random.sample(texts, min(96, len(texts))) + qs
                with torch.no_grad():
                    o = enc(base, sample, 256)
                nw = enc(model, sample, 256)
                loss = (
                    loss + a.keep * (1 - (o * nw).sum(-1)).mean() * 10 * 0.1 + a.keep * F.mse_loss(nw @ nw.T, o @ o.T)
                )
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            tot += loss.item()
            step += 1
        print(
            f"epoch {e + 1} loss {tot / max(1, len(groups) // a.batch):.3f} {time.time() - t0:.0f}s",
            "" if a.quiet and e < a.epochs - 1 else measure(model),
            flush=True,
        )
    runs.append({k: v.clone() for k, v in model.state_dict().items()})
w1 = {k: sum(r[k] for r in runs) / len(runs) if runs[0][k].is_floating_point() else runs[0][k] for k in runs[0]}
w0 = base.state_dict()
for al in (1.0, 0.8):
    model.load_state_dict({k: (al * w1[k] + (1 - al) * w0[k]) if w1[k].is_floating_point() else w1[k] for k in w1})
    print(f"mix {al}", measure(model), flush=True)
if a.save >= 0:
    sd = {
        k: ((a.save * w1[k] + (1 - a.save) * w0[k]) if w1[k].is_floating_point() else w1[k]).half().cpu().contiguous()
        for k in w1
    }
    names = sorted(sd)
    parts, cur, size = [], {}, 0
    for k in names:
        b = sd[k].numel() * 2
        if b > 14e6:
            rows = sd[k].shape[0]
            n = int(b // 14e6) + 1
            for i in range(n):
                parts.append({f"{k}.part{i}": sd[k][i * rows // n : (i + 1) * rows // n].contiguous()})
            continue
        if size + b > 14e6:
            parts.append(cur)
            cur, size = {}, 0
        cur[k] = sd[k]
        size += b
    parts.append(cur)
    for i, p in enumerate(parts):
        save_file(p, f"{a.out}/{a.tag}-{i}.safetensors")
    print("saved", len(parts), "parts")
