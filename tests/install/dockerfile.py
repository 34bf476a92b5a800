"""Reads a Dockerfile."""
import re


def instructions(path):
    """Returns (instruction, arguments) of each line, without comments and with continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]
