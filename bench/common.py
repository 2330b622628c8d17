"""What the scripts share: the machine in a few words, results as JSON, programs in processes of their own."""
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
    """Processor, cores, memory, kernel; nothing that names the machine."""
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
    """Writes results/NAME.json, with the machine and its load when this was written."""
    RESULTS.mkdir(exist_ok=True)
    told = {"machine": machine(), "load_average": [round(load, 1) for load in os.getloadavg()], **figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")


def load(name):
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def percentile(times, share):
    """The value that this share of all are not above."""
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))]


def target():
    """Where cargo builds."""
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def cargo(*arguments):
    """Runs cargo in the project and gives what it printed."""
    done = subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def memoir():
    """The program: MEMOIR, or built here."""
    if "MEMOIR" not in os.environ:
        cargo("build", "--release", "-p", "memoir-cli")
    return os.environ.get("MEMOIR", str(target() / "release" / "memoir"))


def ratio(other, ours):
    return f"{other / ours:.2f} x" if other is not None and ours else "-"
