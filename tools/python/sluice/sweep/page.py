"""The page of a sweep: one HTML file with its table and the Pareto front of each model."""
from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Mapping

_FOLDER = Path(__file__).resolve().parent


def _part(name: str) -> str:
    return (_FOLDER / name).read_text()


def _source(text: str) -> str:
    """Returns what a content security policy calls an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(sweep: Mapping[str, Any]) -> str:
    """Returns a page that needs no other file and no network, and that runs no other script than its own."""
    style, library, script = _part("style.css") + _part("sweep.css"), _part("d3.min.js"), _part("sweep.js")
    values = {"policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
                        f"style-src {_source(style)}; script-src {_source(library)} {_source(script)}",
              "style": style, "library": library, "script": script,
              "data": json.dumps(sweep).replace("<", "\\u003c")} # only strings have it
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _part("page.html"))
