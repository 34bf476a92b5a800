"""A Dask scheduler and its workers, on which a sweep runs."""
import json
import subprocess
import sys
import time

from sweep_base import SweepTest


class DaskTest(SweepTest):
    def setUp(self):
        super().setUp()
        self.start_scheduler()

    def start_scheduler(self):
        path = self.dir / "scheduler.json"
        path.unlink(missing_ok=True)
        self.scheduler = self.start("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--no-show",
                                    "--scheduler-file", "scheduler.json")
        self.until(lambda: path.exists() and path.read_text().endswith("}"))
        self.address = json.loads(path.read_text())["address"]

    def start(self, what, *args, **environment):
        """A scheduler, or a worker that has the command but not the Python package."""
        log = (self.dir / f"{what}.log").open("a")
        self.addCleanup(log.close)
        process = subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{what}", *args], cwd=self.dir, stdout=log, stderr=log,
                                   env={**self.environment(), "PYTHONPATH": "", **environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def worker(self, name, **environment):
        return self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name, "--local-directory",
                          name, **environment)

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def begin(self, *args):
        process = subprocess.Popen(self.words("s.yaml", "--dask", self.address, *args), cwd=self.dir, env=self.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def compiled_by(self, name):
        """How many compilations a worker began."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return sum(f"/{name}/" in line for line in lines)
