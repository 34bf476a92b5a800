"""Which files of hw/rtl a module needs."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RTL = os.path.join(ROOT, "hw", "rtl")


def module_files(cells=None):
    """Returns the file of each module. `cells` names a folder of hw/rtl/cells whose modules, made of a
    part's primitives, take the place of the portable ones."""
    folders = [RTL, os.path.join(RTL, "cells")] + ([os.path.join(RTL, "cells", cells)] if cells else [])
    return {name[:-3]: os.path.join(folder, name) for folder in folders for name in os.listdir(folder)
            if name.endswith(".sv")}


def closure(module, files):
    """Returns the modules that a module instantiates, directly or not, packages first."""
    todo, found = [module], []
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.append(name)
        with open(files[name], encoding="utf-8") as file:
            text = re.sub(r"//.*", "", file.read())
        todo += sorted(set(files) & set(re.findall(r"\w+", text)) - set(found))
    return sorted(found, key=lambda name: (not name.endswith("_pkg"), name))


def sources(module, isa_pkg, cells=None):
    """Returns the files to read for a module, in order."""
    files = module_files(cells)
    return [isa_pkg] + [files[name] for name in closure(module, files)]
