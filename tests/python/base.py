"""A compiled program for the tests of the Python package."""
import unittest

import numpy as np

import models
import sluice

RANGE_SHARE = 0.02  # what bf16 may be off, of the reference's range


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model, reference = models.dense()
        cls.reference = staticmethod(reference)
        cls.program = sluice.compile(cls.model, target="c2b8")

    def near(self, found, expected):
        self.assertLessEqual(np.abs(found - expected).max(), RANGE_SHARE * np.ptp(expected))

    def inputs(self, count):
        return np.random.default_rng(5).standard_normal((count, 1, 8)).astype(np.float32)
