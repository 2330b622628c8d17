"""Shared by the benchmark scripts: a description of the machine, results as JSON, and running programs."""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def machine():
    """Describes the machine without identifying it."""
    processor = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "processor": processor[1] if processor else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(memory[1]) / 2**20, 1),
        "kernel": re.match(r"[\d.]+", platform.release())[0],
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    }


def save(name, figures):
    """Writes results/NAME.json, with the machine and its current load."""
    RESULTS.mkdir(exist_ok=True)
    results = {"machine": machine(), "load_average": [round(load, 1) for load in os.getloadavg()], **figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")


def load(name):
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def percentile(times, share):
    """Returns the percentile of `times` at `share`, which is between 0 and 1."""
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))]


def target():
    """Returns cargo's build directory."""
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def cargo(*arguments):
    """Runs cargo in the project and returns its output."""
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def memoir():
    """Returns the path of the program: MEMOIR, or a release build."""
    if "MEMOIR" not in os.environ:
        cargo("build", "--release", "-p", "memoir-cli")
    return os.environ.get("MEMOIR", str(target() / "release" / "memoir"))


def ratio(other, ours):
    return f"{other / ours:.2f} x" if other is not None and ours else "-"
