#!/usr/bin/env python3
"""Writes the manual pages and the shell completions of sluice from the output of tools/package/describe.cpp.

usage: pages.py DESCRIPTION.json VERSION OUTPUT_FOLDER
"""
import json
import re
import sys
from pathlib import Path


def choices(option):
    """The words that a value may be: "TEXT:{vm,rtl}" has two."""
    found = re.search(r"\{([^}]*)\}", option["value"])
    return found.group(1).split(",") if found else []


def value(option):
    """What stands for the value: "TEXT:UINT in [1 - 5]" is N."""
    if choices(option):
        return "|".join(choices(option))
    return option["value"].split(":")[0].replace(" ...", "").replace("UINT", "N").replace("FLOAT", "X")


def is_file(option):
    """Whether the value is a path, or ends in one."""
    return bool(re.search(r"FILE|DIR|MODEL|SPEC", value(option))) or option["name"] in ("file", "model") and not option["flags"]


def optional_value(option):
    """--json and its like take a value only behind '='."""
    return option["value"].startswith("[=")


# ---- manual pages ---------------------------------------------------------

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def option_roff(option):
    if not option["flags"]:
        return f".TP\n\\fI{roff(option['name'])}\\fR\n{roff(option['text'])}\n"
    name = ", ".join(f"\\fB{roff(flag)}\\fR" for flag in option["flags"])
    if option["value"]:
        name += ("" if optional_value(option) else " ") + f"\\fI{roff(value(option))}\\fR"
    return f".TP\n{name}\n{roff(option['text'])}{' (may be repeated)' if option['repeats'] else ''}\n"


def manual(command, parent, version, related):
    title = f"{parent}-{command['name']}" if parent else command["name"]
    words = f"{parent} {command['name']}" if parent else command["name"]
    positional = [option for option in command["options"] if not option["flags"]]
    text = (f'.TH {title.upper()} 1 "" "sluice {version}" "Sluice"\n.SH NAME\n{roff(title)} \\- {roff(command["text"])}\n'
            f".SH SYNOPSIS\n\\fB{roff(words)}\\fR [\\fIoptions\\fR]")
    text += "".join(f" \\fI{roff(o['name'])}\\fR" if o["required"] else f" [\\fI{roff(o['name'])}\\fR]" for o in positional)
    text += " \\fIcommand\\fR ...\n" if command["commands"] else "\n"
    text += ".SH OPTIONS\n" + "".join(map(option_roff, positional))
    text += "".join(option_roff(option) for option in command["options"] if option["flags"])
    if command["commands"]:
        text += ".SH COMMANDS\n" + "".join(f".TP\n\\fB{roff(c['name'])}\\fR\n{roff(c['text'])}\n" for c in command["commands"])
    if command["footer"]:
        text += f".SH NOTES\n{roff(command['footer'])}\n"
    return title, text + ".SH SEE ALSO\n" + ", ".join(f"\\fB{roff(name)}\\fR(1)" for name in related if name != title) + "\n"


# ---- completions ----------------------------------------------------------

def flags_of(command, root):
    return [flag for option in command["options"] + root["options"] for flag in option["flags"]]


def bash(root):
    names = " ".join(command["name"] for command in root["commands"])
    cases, values = [], {}
    for command in root["commands"]:
        cases.append(f"    {command['name']}) words='{' '.join(dict.fromkeys(flags_of(command, root)))}' ;;")
        for option in command["options"] + root["options"]:
            for flag in option["flags"]:
                if choices(option):
                    values[f"{command['name']} {flag}"] = f"words='{' '.join(choices(option))}'; flag=1"
                elif flag == "--target":
                    values[f"{command['name']} {flag}"] = "words=$(sluice targets 2>/dev/null | awk 'NR > 1 {print $1}'); flag=1; files=1"
                elif option["value"] and not optional_value(option) and not is_file(option):
                    values[f"{command['name']} {flag}"] = "flag=1"
    listed = "\n".join(f"    '{pattern}') {action} ;;" for pattern, action in values.items())
    return f"""# Completion of sluice for bash.
_sluice() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' word words='' flag='' files=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  COMPREPLY=()
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '{names} {" ".join(flag for o in root["options"] for flag in o["flags"])}' -- "$current"))
    return
  fi
  case $command in
{chr(10).join(cases)}
  esac
  case "$command $before" in
{listed}
  esac
  if [[ -n $flag || $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ -n $files ]] || return
  fi
  COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _sluice sluice
"""


def zsh_quoted(text):
    return re.sub(r"([\[\]:'])", r"\\\1", text).replace("\\'", "'\\''")


def zsh_spec(option):
    text = zsh_quoted(option["text"])
    taken = choices(option)
    what = f"({' '.join(taken)})" if taken else "_files" if is_file(option) else " "
    if not option["flags"]:
        return f"'{':' if option['required'] else '::'}{option['name']}:{what if what != ' ' else ''}'"
    star = "*" if option["repeats"] else ""
    tail = f":{zsh_quoted(value(option))}:{what}" if option["value"] and not optional_value(option) else ""
    return " ".join(f"'{star}{flag}[{text}]{tail}'" for flag in option["flags"])


def zsh(root):
    names = "\n".join(f"    '{c['name']}:{zsh_quoted(c['text'])}'" for c in root["commands"])
    cases = "\n".join(f"    {c['name']}) _arguments {' '.join(map(zsh_spec, c['options'] + root['options'][1:]))} ;;"
                      for c in root["commands"])
    return f"""#compdef sluice
_sluice() {{
  local -a commands=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{cases}
  esac
}}
_sluice "$@"
"""


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(root):
    lines = ["# Completion of sluice for fish."]
    for command in root["commands"]:
        lines.append(f"complete -c sluice -n __fish_use_subcommand -f -a {command['name']} -d {fish_quoted(command['text'])}")
        for option in command["options"]:
            if not option["flags"]:
                continue
            line = f"complete -c sluice -n '__fish_seen_subcommand_from {command['name']}'"
            for flag in option["flags"]:
                line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
            if option["value"] and not optional_value(option):
                line += " -r" if is_file(option) else " -x"
                line += f" -a {fish_quoted(' '.join(choices(option)))}" if choices(option) else ""
            lines.append(f"{line} -d {fish_quoted(option['text'])}")
    return "\n".join(lines) + "\n"


def main():
    root, version, folder = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], Path(sys.argv[3])
    names = ["sluice"] + [f"sluice-{command['name']}" for command in root["commands"]]
    pages = [manual(root, "", version, names)] + [manual(c, "sluice", version, names[:1]) for c in root["commands"]]
    files = {f"man/{title}.1": text for title, text in pages}
    files.update({"bash/sluice": bash(root), "zsh/_sluice": zsh(root), "fish/sluice.fish": fish(root)})
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
