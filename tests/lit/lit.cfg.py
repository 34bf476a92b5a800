# Configuration of the lit tests. CMake passes, each with --param name=value:
#   tools       folders of the project's tools, separated by the path separator
#   llvm_tools  folder of FileCheck and not
#   exec_root   where tests may write
#   python      interpreter that sees the python3-* packages (%python)
#   source      root of the repository (%source)
#   shared      models of others (%shared); the feature "shared" says whether it exists
import os
import sys

params = lit_config.params
config.name = "sluice"
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
from spaceless import SpacelessTest, without_space  # noqa: E402

config.test_format = SpacelessTest(here, params["exec_root"])
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = params["exec_root"]
config.environment["PATH"] = os.pathsep.join(
    [params["tools"], params["llvm_tools"], os.environ["PATH"]]
)
shared = os.path.normpath(params["shared"])
config.substitutions += [
    ("%python", params["python"]),
    ("%source", without_space(params["source"])),
    ("%shared", without_space(shared) if os.path.isdir(shared) else shared),
]
if os.path.isdir(shared):
    config.available_features.add("shared")
