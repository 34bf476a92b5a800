"""The options of the command as keywords of functions, and the command's messages in these terms."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterable, Match

# The keywords whose flag has another name, and the others.
_RENAMED = {"fix": "apply-fixes", "name": "model-name"}
_SWITCHES = ("allow_dynamic_weights", "rewrite_layout", "fix", "fixed_random", "io_only")
_BY_NAME = ("input_shape", "bind", "state", "stream", "data_dim", "core_partition")
_LISTS = ("inputs", "outputs")
_VALUES = ("target", "stream_delay", "without_rewrite", "external_data", "name", "effort", "fit_seconds", "check",
           "calibrate", "require", "data", "against", "labels", "steps", "program", "keep", "bundle",
           "timeout", "trials", "target_b")
_KEYWORDS = {_RENAMED.get(name, name.replace("_", "-")): name for name in (*_SWITCHES, *_BY_NAME, *_LISTS, *_VALUES)}
_FLAG = "--(" + "|".join(sorted(_KEYWORDS, key=len, reverse=True)) + ")(?![\\w-])"


def flag_of(keyword: str) -> str:
    return "--" + _RENAMED.get(keyword, keyword.replace("_", "-"))


def is_by_name(keyword: str) -> bool:
    """Whether the value is a dict: one value for each tensor or node."""
    return keyword in _BY_NAME


def _value(text: str) -> Any:
    """Returns the number, the bool, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False, "...": ...}.get(text, text)


def _values(keyword: str, text: str) -> Any:
    if keyword == "state" or text.startswith("@"):
        return text
    parts = re.split("[,:]", text)
    return _value(text) if len(parts) == 1 else tuple(map(_value, parts))


def keywords_of(flags: str) -> Dict[str, Any]:
    """Returns flags of the command as keywords.

    >>> keywords_of("--rewrite-layout --stream x=1:4")
    {'rewrite_layout': True, 'stream': {'x': (1, 4)}}
    """
    words = re.split(f"(?:^| ){_FLAG}", flags)
    keywords: Dict[str, Any] = {}
    for flag, text in zip(words[1::2], words[2::2]):
        keyword, text = _KEYWORDS[flag], text.strip()
        if keyword in _SWITCHES:
            keywords[keyword] = True
        elif keyword in _LISTS:
            keywords.setdefault(keyword, []).extend(text.split(","))
        elif keyword in _BY_NAME:
            name, _, value = text.partition("=") if keyword == "state" else text.rpartition("=")
            keywords.setdefault(keyword, {})[name] = _values(keyword, value)
        else:
            keywords[keyword] = _value(text)
    return keywords


def _spelled(keywords: Dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}".replace("Ellipsis", "...") for name, value in keywords.items())


# A flag in a sentence: alone, or with 'NAME=VALUE', NAME=VALUE or a number.
_IN_TEXT = re.compile(_FLAG + r"(?: '([^'=]+=[^']*)'| ([^\s=('\"]+=[^\s;)]*?(?=[,:]?(?:[\s;)]|$)))| (\d+)(?![\w.]))?")
_COMMAND = re.compile(r"(['`])sluice (explain|ops|targets|compile|check)(?: (E\d{4}|--help))?\1|sluice explain (E\d{4})")


def _flag_in_python(found: Match[str]) -> str:
    keyword, text = _KEYWORDS[found[1]], found[2] or found[3] or found[4]
    if keyword not in _SWITCHES and text is None:
        return keyword
    return _spelled(keywords_of(f"--{found[1]} {text or ''}")) + (f" {text}" if text and keyword in _SWITCHES else "")


def _command_in_python(found: Match[str]) -> str:
    command, word = found[2], found[3] or found[4]
    if word == "--help":
        return f"help(sluice.{command})"
    if word:
        return f"sluice.explain('{word}')"
    return f"sluice.{command}()" if command in ("ops", "targets") else found[0]


def in_python(text: str, flags: Iterable[str] = ()) -> str:
    """Returns a message of the command with keywords in place of flags. `flags` are those that the message is known to
    contain; names in them may have spaces.

    >>> in_python("stream more steps (--stream x=1:4, verified), see 'sluice explain E0302'")
    "stream more steps (stream={'x': (1, 4)}, verified), see sluice.explain('E0302')"
    """
    for flag in sorted(flags, key=len, reverse=True):
        if keywords := keywords_of(flag):
            text = re.sub(re.escape(flag) + r"(?!\w)", _spelled(keywords).replace("\\", r"\\"), text)
    text = text.replace("--verbose lists them", "the error's problems list them")
    return _COMMAND.sub(_command_in_python, _IN_TEXT.sub(_flag_in_python, text))
