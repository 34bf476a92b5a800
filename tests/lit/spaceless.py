"""Tests of lit in folders whose path has a space: RUN lines quote nothing, so they get links without one."""
import hashlib
import os
import tempfile

import lit.formats


def without_space(path):
    """Returns the path, or a link to the folder where the path has a space."""
    path = os.path.normpath(path)
    if " " not in path:
        return path
    link = os.path.join(tempfile.gettempdir(), "sluice-lit-" + hashlib.md5(path.encode()).hexdigest())
    if not os.path.islink(link):
        os.makedirs(path, exist_ok=True)
        try:
            os.symlink(path, link)
        except FileExistsError:  # by the tests of another folder, at the same time
            pass
    return link


class SpacelessTest(lit.formats.ShTest):
    """Runs a test with %s and %t below links; lit itself resolves the links of the configuration."""

    def __init__(self, source_root, exec_root):
        super().__init__(execute_external=False)
        self.source_root, self.exec_root = without_space(source_root), without_space(exec_root)

    def execute(self, test, lit_config):
        test.suite.source_root, test.suite.exec_root = self.source_root, self.exec_root
        return super().execute(test, lit_config)
