"""Compiles graphs and runs them on both engines, in one process of graph_driver that is started again when it dies."""
import json
import os
import pathlib
import resource
import select
import shutil
import subprocess
import tempfile
import time

import numpy as np
import onnx

MEMORY = 8 << 30  # bytes that the compiler may use


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Driver:
    def __init__(self, program, seconds=60):
        self.program, self.seconds = os.path.abspath(program), seconds
        self.process, self.folder = None, pathlib.Path(tempfile.mkdtemp(prefix="graphs-"))

    def close(self):
        if self.process:  # one that ends by itself writes what it has counted
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def used(self):
        """Seconds of processor time that the process has used."""
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, folder, seconds):
        """What the driver reports; a report with "crash" if it dies or takes longer."""
        if not self.process:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                            stderr=subprocess.DEVNULL, preexec_fn=limit_memory)
        self.process.stdin.write(f"{folder}\n".encode())
        self.process.stdin.flush()
        text, begin, start = b"", self.used(), time.monotonic()
        while not text.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], 1)[0]:
                # Other processes may take the most of the machine.
                if self.used() - begin > seconds or time.monotonic() - start > 10 * seconds:
                    self.stop()
                    return {"crash": f"more than {seconds} s", "codes": []}
                continue
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                status = self.process.wait()
                self.stop()
                return {"crash": f"status {status}", "codes": []}
            text += more
        return json.loads(text)

    def run(self, graph, types, wanted):
        """The report. Its outputs have the values of every inference, its tensors those of the imported graph, and the
        bounds of their elements, of the names that are wanted."""
        for file in self.folder.iterdir():
            file.unlink()
        onnx.save(graph.model(types), str(self.folder / "model.onnx"))
        (self.folder / "flags.txt").write_text("\n".join(" ".join(f) for f in graph.flags) + "\n")
        (self.folder / "tensors.txt").write_text("".join(f"{name}\n" for name in wanted))
        for name in graph.inferences[0]:
            if name in graph.states:
                continue
            values = [np.asarray(one[name], np.float64) for one in graph.inferences]
            if name in graph.stream:  # an inference for each step
                values[0].tofile(self.folder / f"{name}.whole")
                values = np.split(values[0], values[0].shape[graph.stream[name]], graph.stream[name])
            np.stack(values).tofile(self.folder / f"{name}.in")
        # --effort high plans sixteen times as long as the default.
        report = self.ask(self.folder, self.seconds * (4 if ("--effort", "high") in graph.flags else 1))
        for name, output in (report.get("outputs") or {}).items():
            output["values"] = np.fromfile(self.folder / f"{name}.out").reshape(-1, *output["shape"])
        for name, shape in (report.get("tensors") or {}).items():
            report["tensors"][name] = tuple(np.fromfile(self.folder / f"{name}.{what}").reshape(-1, *shape)
                                            for what in ("exact", "bound"))
        return report
