"""What every layer of the tests shares."""

import os

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # the machine's speed is not a property of the code
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def torch():
    """PyTorch, which results are compared with. Where CI is true it must be there; elsewhere a test is skipped."""
    try:
        import torch
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("PyTorch is missing: install tests/requirements-reference.txt")
        pytest.skip("PyTorch is not installed: tests/requirements-reference.txt has it")
    return torch
