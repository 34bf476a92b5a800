"""Runs a program on both engines against stored outputs."""
import json
import subprocess


def judged(sluice, program, data, title, allowed, flags=(), scale=lambda output: output["reference_range"]):
    """Whether the engines agree in bits and cycles and no output is further off than allowed, as a share of its scale; says so."""
    run = subprocess.run([sluice, "run", str(program), "--engine", "both", "--json", *flags, "--data-set", str(data)],
                         stdout=subprocess.PIPE, text=True)
    report = json.loads(run.stdout)
    worst = max(float(o["max_abs_error"]) / scale(o) for o in report["outputs"])
    cycles = {engine: r["cycles"] for engine, r in report["engines"].items()}
    good = (run.returncode == 0 and report["ok"] and report["equal"] is True
            and len(set(cycles.values())) == 1 and worst <= allowed)
    print(f"{title}: cycles {cycles}, equal bits {report['equal']}, "
          f"worst error {100 * worst:.3f} % of the range{'' if good else '  FAILED'}")
    return good
