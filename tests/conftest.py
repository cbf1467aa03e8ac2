"""What every layer of the tests shares."""

import os

import pytest


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
