"""Compiles the points of a sweep on executors: threads of this machine that start child processes, or Dask workers."""
from __future__ import annotations

import logging
import queue
import shutil
import time
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Tuple, Union

from .failure import Failure
from .plan import Bundle, Point
from .task import Children, Outcome, compile_on_worker, compile_point, is_valid

# Called with a finished point, its outcome and the number of attempts.
Finished = Callable[[Point, Outcome, int], None]


class Local:
    """So many points at a time on this machine."""

    def __init__(self, command: str, jobs: int, seconds: float, work: Path) -> None:
        self._command, self._seconds, self._work, self._children = command, seconds, work, Children()
        shutil.rmtree(work, ignore_errors=True) # of a run that was killed
        work.mkdir()
        self._pool = ThreadPoolExecutor(jobs)

    def submit(self, point: Point) -> "Future[Any]":
        paths = {bundle.id: str(bundle.path) for bundle in point.bundles}
        return self._pool.submit(compile_point, self._command, point.words, paths, self._seconds, str(self._work),
                                 self._children)

    def check(self) -> None:
        """Nothing can end these workers but the end of the sweep."""

    def close(self) -> None:
        self._children.end()
        self._pool.shutdown(cancel_futures=True)
        shutil.rmtree(self._work, ignore_errors=True)


class Dask:
    """The workers of a Dask scheduler. The contents of files are results of the scheduler: each worker gets them once, and
    those of a worker that died are sent again."""

    def __init__(self, address: str, command: str, version: str, seconds: float) -> None:
        try:
            import cloudpickle  # type: ignore
            import distributed  # type: ignore
        except ImportError:
            raise Failure("E0621", "--dask needs the Python package distributed; type: python3 -m pip install distributed") from None
        from . import task
        logging.disable(logging.CRITICAL) # Dask repeats what the sweep reports
        warnings.filterwarnings("ignore", "Sending large graph") # the contents of a model
        # Scheduler and workers need not have this package: the function goes to them by value, as Dask sends those of a script.
        cloudpickle.register_pickle_by_value(task)
        compile_on_worker.__module__ = "__main__"
        self._command, self._version, self._seconds, self._address = command, version, seconds, address
        try:
            self._client = distributed.Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError) as wrong:
            reason = str(wrong).split("\n")[0]
            raise Failure("E0621", f"cannot connect to the Dask scheduler at '{address}': {reason}") from None
        self._pool = self._client.get_executor(pure=False)
        self._contents: Dict[str, Any] = {}

    def _content(self, bundle: Bundle) -> Any:
        if bundle.id not in self._contents:
            self._contents[bundle.id] = self._client.submit(dict, bundle.contents(), key=f"sluice-{bundle.id}", pure=True)
        return self._contents[bundle.id]

    def submit(self, point: Point) -> "Future[Any]":
        names = [(bundle.id, bundle.main) for bundle in point.bundles]
        found: "Future[Any]" = self._pool.submit(compile_on_worker, self._command, self._version, point.words, names, self._seconds,
                                                 *map(self._content, point.bundles))
        return found

    def check(self) -> None:
        if self._client.status != "running":
            raise Failure("E0621", f"lost the Dask scheduler at '{self._address}'; type the command again to go on")

    def close(self) -> None:
        self._client.close()


def outcome_of(future: "Future[Any]") -> Outcome:
    """Returns what a worker returned; damage and exceptions are lost points."""
    wrong = future.exception()
    if wrong is not None:
        text = " ".join(str(wrong).split())
        return {"lost": f"the worker ended: {text}" if type(wrong).__name__ == "KilledWorker" else f"{type(wrong).__name__}: {text}"}
    found = future.result()
    if not is_valid(found):
        return {"lost": "the worker returned no valid result"}
    outcome: Outcome = found
    return outcome


def run(workers: Union[Dask, Local], points: Iterable[Point], retries: int, finished: Finished, show: Callable[[], None]) -> None:
    """Compiles the points. One that is lost is tried again so many times."""
    attempts: Dict[str, int] = {}
    running: Dict["Future[Any]", Point] = {}
    done: "queue.SimpleQueue[Future[Any]]" = queue.SimpleQueue()

    def start(point: Point) -> None:
        attempts[point.key] = attempts.get(point.key, 0) + 1
        future = workers.submit(point)
        running[future] = point
        future.add_done_callback(done.put)

    for point in points:
        start(point)
    while running:
        try:
            future = done.get(timeout=0.5)
        except queue.Empty:
            workers.check()
            show()
            continue
        if future.cancelled():
            workers.check()
        point = running.pop(future)
        outcome: Outcome = {"lost": "the worker ended"} if future.cancelled() else outcome_of(future)
        if "lost" in outcome and attempts[point.key] <= retries:
            start(point)
        else:
            finished(point, outcome, attempts[point.key])
        show()


def distinct(points: Iterable[Point], known: Iterable[str]) -> List[Point]:
    """Returns the points that are not known, each once."""
    left = {point.key: point for point in points}
    for key in known:
        left.pop(key, None)
    return list(left.values())


class Clock:
    """The time that is left, from the points that this run finished."""

    def __init__(self, left: int) -> None:
        self.start, self.done, self.left = time.monotonic(), 0, left

    def text(self) -> str:
        if self.done == 0:
            return "time left unknown"
        seconds = int((time.monotonic() - self.start) / self.done * (self.left - self.done) + 0.5)
        parts: Tuple[int, int, int] = (seconds // 3600, seconds // 60 % 60, seconds % 60)
        return f"{parts[0]}:{parts[1]:02d}:{parts[2]:02d} left"
