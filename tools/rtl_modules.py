"""Which files of hw/rtl a module needs."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RTL = os.path.join(ROOT, "hw", "rtl")


def closure(module, rtl=RTL):
    """Returns the modules that a module instantiates, directly or not, packages first."""
    files = {name[:-3] for name in os.listdir(rtl) if name.endswith(".sv")}
    todo, found = [module], []
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.append(name)
        with open(os.path.join(rtl, name + ".sv"), encoding="utf-8") as file:
            text = re.sub(r"//.*", "", file.read())
        todo += sorted(files & set(re.findall(r"\w+", text)) - set(found))
    return sorted(found, key=lambda name: (not name.endswith("_pkg"), name))


def sources(module, isa_pkg, rtl=RTL):
    """Returns the files to read for a module, in order."""
    return [isa_pkg] + [os.path.join(rtl, name + ".sv") for name in closure(module, rtl)]
