# Configuration of the lit tests. CMake passes, each with --param name=value:
#   tools       folders of the project's tools, separated by the path separator
#   llvm_tools  folder of FileCheck and not
#   exec_root   where tests may write
#   python      interpreter that sees the python3-* packages (%python)
#   source      root of the repository (%source)
#   shared      models of others (%shared); the feature "shared" says whether it exists
import os

import lit.formats

params = lit_config.params
config.name = "sluice"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = params["exec_root"]
config.environment["PATH"] = os.pathsep.join(
    [params["tools"], params["llvm_tools"], os.environ["PATH"]]
)
shared = os.path.normpath(params["shared"])
config.substitutions += [
    ("%python", params["python"]),
    ("%source", params["source"]),
    ("%shared", shared),
]
if os.path.isdir(shared):
    config.available_features.add("shared")
