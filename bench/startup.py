#!/usr/bin/env python3
"""Compares startup time and resident memory with other terminal agents: `--version`, `--help`, and from start to prompt.

    python startup.py [--runs 20]

Programs are taken from PATH; a missing one is reported as not installed. requirements.txt installs `llm`. Install `aichat` with
`cargo install aichat --locked`, and `codex` and `gemini` with `npm install @openai/codex @google/gemini-cli`. Each program runs
in its own home directory with an invalid API key, and no model is called. The prompt appears on a pseudo-terminal that answers
the programs' terminal queries.
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
# Terminal queries that programs wait for: the cursor position, the colors and the terminal type.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
           b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\", b"\x1b[c": b"\x1b[?62;22c"}
AICHAT = "model: openai:gpt-4o-mini\nclients:\n- type: openai\n  api_key: sk-bench\n"


def programs():
    """Yields the name, the program, the arguments that start a conversation, and a pattern for the end of the prompt."""
    yield "Memoir", common.memoir(), ["--model", "memoir/recall"], rb">\s*$"
    llm = pathlib.Path(sys.executable).parent / "llm"
    yield "llm", str(llm) if llm.exists() else shutil.which("llm"), ["chat"], rb">\s*$"
    # Without an account, only `--version` and `--help` work.
    yield "codex", shutil.which("codex"), None, None
    yield "gemini", shutil.which("gemini"), None, None
    yield "aichat", os.environ.get("AICHAT") or shutil.which("aichat"), [], rb">\s*$"


def environment(home):
    (home / "aichat").mkdir(exist_ok=True)
    (home / "aichat" / "config.yaml").write_text(AICHAT)
    return {"HOME": str(home), "MEMOIR_HOME": str(home / "memoir"), "LLM_USER_PATH": str(home / "llm"),
            "AICHAT_CONFIG_DIR": str(home / "aichat"), "OPENAI_API_KEY": "sk-bench", "MEMOIR_LOCAL_SERVERS": "none",
            "TERM": "xterm-256color", "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}


def run_command(command, variables):
    """Runs a command. Returns its milliseconds, its peak memory in MB, and its processor milliseconds."""
    started = time.perf_counter()
    child = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    elapsed = 1000 * (time.perf_counter() - started)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} exited with status {child.returncode}")
    return elapsed, usage.ru_maxrss / 1024, 1000 * (usage.ru_utime + usage.ru_stime)


def resident_megabytes(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024


def processor_milliseconds(process):
    """Returns the processor time of all threads of a process."""
    times = (path.read_text().split()[0] for path in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"))
    return sum(map(int, times)) / 1e6


def run_to_prompt(command, variables, prompt, timeout=20):
    """Runs a command until its prompt appears. Returns its milliseconds, resident MB and processor milliseconds so far."""
    started = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.execve(command[0], command, variables)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    output, answered = b"", dict.fromkeys(ANSWERS, 0)
    try:
        while time.perf_counter() - started < timeout:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                output += os.read(terminal, 65536)
            except OSError:
                break
            for question, answer in ANSWERS.items():
                while output.count(question) > answered[question]:
                    os.write(terminal, answer)
                    answered[question] += 1
            if re.search(prompt, ESCAPES.sub(b"", output)):
                return 1000 * (time.perf_counter() - started), resident_megabytes(process), processor_milliseconds(process)
        raise RuntimeError(f"no prompt; the output ends with {ESCAPES.sub(b'', output)[-300:]!r}")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def measure_runs(run, runs):
    # The first run fills the file cache and creates the program's files.
    run()
    times, memory, cpu = zip(*(run() for _ in range(runs)))
    return {"median_ms": common.percentile(times, 0.5), "worst_ms": max(times), "memory_mb": common.percentile(memory, 0.5),
            "cpu_ms": common.percentile(cpu, 0.5)}


def measure(program, arguments, prompt, runs):
    figures = {}
    with tempfile.TemporaryDirectory() as home:
        variables = environment(pathlib.Path(home))
        for option in ("--version", "--help"):
            figures[option] = measure_runs(lambda: run_command([program, option], variables), runs)
        try:
            if arguments is None:
                raise RuntimeError("not measured: needs an account")
            figures["prompt"] = measure_runs(lambda: run_to_prompt([program, *arguments], variables, prompt), runs)
        except RuntimeError as error:
            figures["prompt"] = {"error": str(error)}
        version = subprocess.run([program, "--version"], env=variables, capture_output=True, text=True).stdout
    figures["version"] = version.strip().splitlines()[0]
    figures["program_mb"] = os.stat(program).st_size / 1e6
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    figures = {}
    for name, program, arguments, prompt in programs():
        if program:
            figures[name] = measure(program, arguments, prompt, runs)
        else:
            figures[name] = {"error": "not installed"}
    # Linux includes the memory that the process had before `exec`, so smaller figures cannot be measured.
    smallest = run_command([shutil.which("true")], dict(os.environ))[1]
    common.save("startup", {"figures": figures, "runs": runs, "least_memory_mb": smallest})
    ours = figures["Memoir"]
    for action in ("--version", "--help", "prompt"):
        print(f"\n{action:<12}{'median ms':>12}{'x ours':>10}{'cpu ms':>10}{'x ours':>10}{'memory MB':>12}{'x ours':>10}")
        for name, row in figures.items():
            row = row if "error" in row else row[action]
            if "error" in row:
                print(f"{name:<12}{row['error']}")
                continue
            print(f"{name:<12}{row['median_ms']:>12.1f}{common.ratio(row['median_ms'], ours[action]['median_ms']):>10}"
                  f"{row['cpu_ms']:>10.1f}{common.ratio(row['cpu_ms'], ours[action]['cpu_ms']):>10}"
                  f"{row['memory_mb']:>12.1f}{common.ratio(row['memory_mb'], ours[action]['memory_mb']):>10}")
    print(f"\nmemory of --version and --help cannot be measured below {smallest:.1f} MB")


if __name__ == "__main__":
    main()
