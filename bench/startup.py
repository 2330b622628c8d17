#!/usr/bin/env python3
"""Start-up and resident memory beside other terminal agents: `--version`, `--help`, and from start to a prompt.

    python startup.py [--runs 20]

Programs are taken from PATH; one that is not there is left out and said. `llm` comes with requirements.txt, `aichat` with
`cargo install aichat --locked`, `codex` and `gemini` with `npm install @openai/codex @google/gemini-cli`. All run in a home of their own, with a key that opens nothing, and nothing is asked of any model. The
prompt is waited for on a pseudo-terminal that answers what programs ask of one.
"""
import argparse
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import common

ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")
# What programs ask of a terminal and wait for: where the cursor is, its colours, and what it is.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
           b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\", b"\x1b[c": b"\x1b[?62;22c"}
AICHAT = "model: openai:gpt-4o-mini\nclients:\n- type: openai\n  api_key: sk-bench\n"


def programs():
    """Name, program, how it opens a talk, and how its prompt ends."""
    yield "Memoir", common.memoir(), ["--model", "memoir/recall"], rb">\s*$"
    beside = pathlib.Path(sys.executable).parent / "llm"
    yield "llm", str(beside) if beside.exists() else shutil.which("llm"), ["chat"], rb">\s*$"
    # Of these only what needs no account.
    yield "codex", shutil.which("codex"), None, None
    yield "gemini", shutil.which("gemini"), None, None
    yield "aichat", os.environ.get("AICHAT") or shutil.which("aichat"), [], rb">\s*$"


def environment(home):
    (home / "aichat").mkdir(exist_ok=True)
    (home / "aichat" / "config.yaml").write_text(AICHAT)
    return {"HOME": str(home), "MEMOIR_HOME": str(home / "memoir"), "LLM_USER_PATH": str(home / "llm"),
            "AICHAT_CONFIG_DIR": str(home / "aichat"), "OPENAI_API_KEY": "sk-bench", "MEMOIR_LOCAL_SERVERS": "none",
            "TERM": "xterm-256color", "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}


def once(command, variables):
    """Runs a command to its end: milliseconds, the most that it held in megabytes, milliseconds of processor."""
    started = time.perf_counter()
    child = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    taken = 1000 * (time.perf_counter() - started)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    return taken, used.ru_maxrss / 1024, 1000 * (used.ru_utime + used.ru_stime)


def resident(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024


def processor(process):
    """What all threads of a process have used, in milliseconds."""
    told = (path.read_text().split()[0] for path in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"))
    return sum(map(int, told)) / 1e6


def talk(command, variables, prompt, patience=20):
    """From start to a drawn prompt: milliseconds, what is resident then, milliseconds of processor until then."""
    started = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.execve(command[0], command, variables)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen, answered = b"", dict.fromkeys(ANSWERS, 0)
    try:
        while time.perf_counter() - started < patience:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
            for question, answer in ANSWERS.items():
                while seen.count(question) > answered[question]:
                    os.write(terminal, answer)
                    answered[question] += 1
            if re.search(prompt, ESCAPES.sub(b"", seen)):
                return 1000 * (time.perf_counter() - started), resident(process), processor(process)
        raise RuntimeError(f"no prompt; it showed {ESCAPES.sub(b'', seen)[-300:]!r}")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def repeated(work, runs):
    # The first brings files into memory and makes what is made once.
    work()
    told = [work() for _ in range(runs)]
    return {"median_ms": common.percentile([one[0] for one in told], 0.5), "worst_ms": max(one[0] for one in told),
            "memory_mb": common.percentile([one[1] for one in told], 0.5), "cpu_ms": common.percentile([one[2] for one in told], 0.5)}


def measure(program, opening, prompt, runs):
    figures = {}
    with tempfile.TemporaryDirectory() as home:
        variables = environment(pathlib.Path(home))
        for what in ("--version", "--help"):
            figures[what] = repeated(lambda: once([program, what], variables), runs)
        try:
            if opening is None:
                raise RuntimeError("not measured: needs an account")
            figures["prompt"] = repeated(lambda: talk([program, *opening], variables, prompt), runs)
        except RuntimeError as error:
            figures["prompt"] = {"error": str(error)}
        said = subprocess.run([program, "--version"], env=variables, capture_output=True, text=True).stdout
    figures["version"] = said.strip().splitlines()[0]
    figures["program_mb"] = os.stat(program).st_size / 1e6
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    figures = {}
    for name, program, opening, prompt in programs():
        if program:
            figures[name] = measure(program, opening, prompt, runs)
        else:
            figures[name] = {"error": "not installed"}
    # Linux counts what a process held before it became the program: less than that cannot be seen.
    least = once([shutil.which("true")], dict(os.environ))[1]
    common.save("startup", {"figures": figures, "runs": runs, "least_memory_mb": least})
    ours = figures["Memoir"]
    for what in ("--version", "--help", "prompt"):
        print(f"\n{what:<12}{'median ms':>12}{'x ours':>10}{'cpu ms':>10}{'x ours':>10}{'memory MB':>12}{'x ours':>10}")
        for name, row in figures.items():
            row = row if "error" in row else row[what]
            if "error" in row:
                print(f"{name:<12}{row['error']}")
                continue
            print(f"{name:<12}{row['median_ms']:>12.1f}{common.ratio(row['median_ms'], ours[what]['median_ms']):>10}"
                  f"{row['cpu_ms']:>10.1f}{common.ratio(row['cpu_ms'], ours[what]['cpu_ms']):>10}"
                  f"{row['memory_mb']:>12.1f}{common.ratio(row['memory_mb'], ours[what]['memory_mb']):>10}")
    print(f"\nmemory of --version and --help cannot be seen below {least:.1f} MB")


if __name__ == "__main__":
    main()
