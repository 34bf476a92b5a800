"""Compiles a model with the flags that it needs, and runs a program on both engines against stored outputs."""
import json
import subprocess

INTERNAL = "E0199", "E0498", "E0499"  # codes of problems that no model should show


class Rejected(Exception):
    """The compiler rejects a model: the first problem that it reports."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.is_internal = not code.startswith("E0") or code in INTERNAL


def compiled(sluice, model, program, target, flags=("--apply-fixes",)):
    """Compiles the model; the fixes of layout errors that were applied, and the cycles of an inference."""
    run = subprocess.run([sluice, "compile", str(model), "--target", target, "--json", "-o", str(program), *flags],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        report = json.loads(run.stdout)
    except json.JSONDecodeError:
        raise Rejected(f"status {run.returncode}", run.stderr.strip()[-200:]) from None
    if run.returncode != 0:
        raise Rejected(report["errors"][0]["code"], report["errors"][0]["message"])
    applied = [fix["flags"] for fix in report.get("fixes", []) if fix["applied"]]
    return applied[0] if applied else "", report["latency"]["spaced"]


def spread(output):
    """What an error is a share of: the range, or the magnitude where the output is nearly constant."""
    return float(output["reference_magnitude" if output["near_constant"] else "reference_range"]) or 1.0


def measured(sluice, program, data, allowed, flags=(), scale=lambda output: output["reference_range"]):
    """Whether the engines agree in bits and cycles and no output is further off than allowed, as a share of its scale; the cycles
    of each engine, whether bits are equal, and the worst error."""
    run = subprocess.run([sluice, "run", str(program), "--engine", "both", "--json", *flags, "--data-set", str(data)],
                         stdout=subprocess.PIPE, text=True)
    report = json.loads(run.stdout)
    if "outputs" not in report:
        raise Rejected(report["errors"][0]["code"], report["errors"][0]["message"])
    worst = max(float(o["max_abs_error"]) / scale(o) for o in report["outputs"])
    cycles = {engine: r["cycles"] for engine, r in report["engines"].items()}
    good = (run.returncode == 0 and report["ok"] and report["equal"] is True
            and len(set(cycles.values())) == 1 and worst <= allowed)
    return good, cycles, report["equal"], worst


def judged(sluice, program, data, title, *arguments, **options):
    """Whether `measured` finds nothing wrong; says so."""
    good, cycles, equal, worst = measured(sluice, program, data, *arguments, **options)
    print(f"{title}: cycles {cycles}, equal bits {equal}, "
          f"worst error {100 * worst:.3f} % of the range{'' if good else '  FAILED'}")
    return good
