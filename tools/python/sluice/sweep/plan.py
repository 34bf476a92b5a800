"""The points of a sweep file: every model, for every target, with every set of options."""
from __future__ import annotations

import difflib
import hashlib
import inspect
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from ..keywords import flag_of, is_by_name
from ..program import compile as compile_model
from .failure import Failure
from .task import Contents, mark

# Options of `compile` whose value is a file, or which a sweep sets itself.
_PATHS = ("external_data", "calibrate")
_OTHERS = ("model", "example_inputs", "engine", "target", "name", "require")
OPTIONS = [name for name in inspect.signature(compile_model).parameters if name not in _OTHERS]
_KEYWORDS = {flag_of(name)[2:]: name for name in OPTIONS}  # as the command spells them


@dataclass(frozen=True)
class Bundle:
    """Files that a point reads: a model with its weights, say. The id follows from names and contents."""
    id: str
    folder: Path
    names: Tuple[str, ...]
    main: str  # "": the folder

    @property
    def path(self) -> Path:
        return self.folder / self.main

    def contents(self) -> Contents:
        return {name: (self.folder / name).read_bytes() for name in self.names}


@dataclass(frozen=True)
class Point:
    model: str
    target: str
    options: str
    words: Tuple[str, ...]  # of the command; task.mark stands for a path
    bundles: Tuple[Bundle, ...]
    key: str

    @property
    def about(self) -> Dict[str, object]:
        return {"model": self.model, "target": self.target, "options": self.options}


@dataclass(frozen=True)
class Plan:
    points: Tuple[Point, ...]
    targets: Tuple[Tuple[str, str], ...]  # name, and what the command calls it here


class _Reader:
    """Reads a sweep file. Paths are relative to its folder."""

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.folder, self.version = path, path.parent, version
        self._bundles: Dict[Tuple[str, ...], Bundle] = {}

    def wrong(self, message: str) -> Failure:
        return Failure("E0622", f"{message}\n  --> {self.path}", 5)

    def document(self) -> Dict[str, Any]:
        try:
            import yaml  # type: ignore
        except ImportError:
            raise Failure("E0621", "a sweep needs PyYAML; install python3-yaml, or type: python3 -m pip install PyYAML") from None
        try:
            found = yaml.safe_load(self.path.read_text())
        except OSError as wrong:
            raise Failure("E0501", f"cannot read '{self.path}': {wrong.strerror}", 5, "program") from None
        except (yaml.YAMLError, UnicodeDecodeError) as wrong:
            where = getattr(wrong, "problem_mark", None)
            reason = f": line {where.line + 1}: {getattr(wrong, 'problem', '')}" if where else ""
            raise self.wrong(f"the file is not YAML{reason}") from None
        return self.mapping(found, "the file", ("models", "targets", "options"))

    def mapping(self, value: Any, what: str, known: Sequence[str]) -> Dict[str, Any]:
        """Returns a mapping whose keys are known."""
        if not isinstance(value, dict):
            raise self.wrong(f"{what} is {value!r}, allowed: a mapping with {', '.join(known)}")
        for key in value:
            if key not in known:
                close = difflib.get_close_matches(str(key), known, 1)
                raise self.wrong(f"{what} has '{key}', " + (f"did you mean '{close[0]}'?" if close
                                                            else f"allowed: {', '.join(known)}"))
        return value

    def items(self, document: Mapping[str, Any], name: str) -> List[Any]:
        """Returns a list that may not be empty; one value stands for a list of one."""
        if name not in document:
            raise self.wrong(f"the file has no '{name}'")
        value = document[name]
        if isinstance(value, (str, dict)):
            value = [value]
        if not isinstance(value, list) or not value:
            raise self.wrong(f"'{name}' is {value!r}, allowed: a list with at least one entry")
        return value

    def bundle(self, main: str, others: Sequence[str] = ()) -> Bundle:
        """Returns the files by their paths; those of a folder are all in it."""
        key = (main, *others)
        if key not in self._bundles:
            path = (self.folder / main).resolve()
            try:
                if path.is_dir():
                    root, name = path, ""
                    names = sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())
                else:
                    root, name, names = path.parent, path.name, [path.name, *others]
                digest = hashlib.sha256(name.encode())
                for one in names:
                    digest.update(one.encode() + b"\0" + hashlib.sha256((root / one).read_bytes()).digest())
            except OSError as wrong:
                raise Failure("E0501", f"cannot read '{wrong.filename}': {wrong.strerror}\n  --> {self.path}", 5, "program") from None
            self._bundles[key] = Bundle(digest.hexdigest(), root, tuple(names), name)
        return self._bundles[key]

    def options(self, entry: Any, what: str) -> Tuple[str, List[str], List[Bundle]]:
        """Returns options as they are shown, as words of the command, and the files they name."""
        shown: List[str] = []
        words: List[str] = []
        bundles: List[Bundle] = []
        if isinstance(entry, dict):
            entry = {_KEYWORDS.get(str(key), str(key)): value for key, value in entry.items()}
        for name, value in self.mapping({} if entry is None else entry, what, OPTIONS).items():
            if name == "check" and isinstance(value, bool):
                value = "auto" if value else "off"
            if value is False or value is None:
                continue
            flag = flag_of(name)
            if value is True:
                shown.append(flag)
                words.append(flag)
                continue
            if is_by_name(name) and not isinstance(value, dict):
                raise self.wrong(f"{what}: '{name}' is {value!r}, allowed: a mapping by name")
            if not is_by_name(name) and isinstance(value, dict):
                raise self.wrong(f"{what}: '{name}' is {value!r}, allowed: a value")
            if is_by_name(name):
                texts = [f"{key}={self._joined(one, name)}" for key, one in value.items()]
            else:
                texts = [self._joined(one, name) for one in (value if isinstance(value, list) else [value])]
            for text in texts:
                shown.append(f"{flag} {text}")
                words += [flag, self._marked(name, text, bundles)]
        return " ".join(shown), words, bundles

    @staticmethod
    def _joined(value: Any, name: str) -> str:
        if isinstance(value, (list, tuple)):
            return (":" if name == "stream" else ",").join(map(str, value))
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _marked(self, name: str, text: str, bundles: List[Bundle]) -> str:
        """Replaces a path in the value of an option."""
        before, at, path = text.partition("=@") if name == "bind" else ("", "", text if name in _PATHS else "")
        if not path:
            return text
        bundles.append(self.bundle(path))
        return f"{before}{at}{mark(bundles[-1].id)}"

    def variants(self, value: Any, what: str) -> List[Any]:
        """Returns sets of options: those of a list, or all combinations of the values of a mapping."""
        if isinstance(value, dict):
            lists = {name: one if isinstance(one, list) else [one] for name, one in value.items()}
            if not all(lists.values()):
                raise self.wrong(f"{what} has an empty list")
            return [dict(zip(lists, chosen)) for chosen in itertools.product(*lists.values())]
        if isinstance(value, list) and value:
            return value
        raise self.wrong(f"{what} is {value!r}, allowed: a mapping of lists, or a list of mappings")

    def models(self, document: Mapping[str, Any]) -> Iterator[Tuple[str, Bundle, Any]]:
        seen: Dict[str, str] = {}
        for entry in self.items(document, "models"):
            entry = {"path": entry} if isinstance(entry, str) else entry
            entry = self.mapping(entry, "a model", ("path", "name", "files", "options"))
            if not isinstance(entry.get("path"), str):
                raise self.wrong("a model has no 'path'")
            files = entry.get("files", [])
            if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
                raise self.wrong(f"'files' is {files!r}, allowed: a list of file names in the folder of the model")
            for one in files:
                if Path(one).is_absolute() or ".." in Path(one).parts:
                    raise self.wrong(f"'files' has '{one}', allowed: names in the folder of the model")
            name = str(entry.get("name", Path(entry["path"]).stem))
            if name in seen:
                raise self.wrong(f"two models have the name '{name}'; give one a 'name' of its own")
            seen[name] = entry["path"]
            yield name, self.bundle(entry["path"], files), entry.get("options")

    def targets(self, document: Mapping[str, Any]) -> Iterator[Tuple[str, List[Bundle]]]:
        for entry in self.items(document, "targets"):
            if not isinstance(entry, str):
                raise self.wrong(f"a target is {entry!r}, allowed: the name of a preset, or a .json file")
            yield entry, [self.bundle(entry)] if entry.endswith(".json") else []

    def plan(self) -> Plan:
        document = self.document()
        targets = list(self.targets(document))
        sets = [self.options(one, "'options'") for one in self.variants(document.get("options", {}), "'options'")]
        points = []
        for name, model, own in self.models(document):
            what = f"the options of '{name}'"
            for fixed in [self.options(one, what) for one in self.variants(own or {}, what)]:
                for target, files in targets:
                    for shown, words, named in sets:
                        words = [mark(model.id), "--target", mark(files[0].id) if files else target, *fixed[1], *words]
                        key = hashlib.sha256(json.dumps([self.version, words]).encode()).hexdigest()
                        points.append(Point(name, target, " ".join(filter(None, (fixed[0], shown))), tuple(words),
                                            tuple(dict.fromkeys((model, *files, *fixed[2], *named))), key))
        return Plan(tuple(points), tuple((name, str(files[0].path) if files else name) for name, files in targets))


def read_plan(path: Path, version: str) -> Plan:
    """Returns the points of a sweep file for this version of the command."""
    return _Reader(path, version).plan()
