"""What measures the app still works, in a short form: how fast a machine is stays out of the tests."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

import benchmark_browser
import benchmark_pages
import load

from pages.shared.shell import PAGES


def test_readers_work_on_every_page_without_an_error():
    with ThreadPoolExecutor(1) as other:  # Playwright has an event loop in this thread
        found = other.submit(load.measure, sessions=len(PAGES), seconds=6).result()
    assert (found["errors"], found["first error"]) == (0, "")
    assert found["changes"] >= len(PAGES)


def test_every_lesson_repaints_what_was_moved(browser):
    times = benchmark_browser.measure(browser, changes=5)
    assert len(times) == 2 + len(benchmark_browser.MOVES)
    assert all(time and time > 0 for row in times.values() for time in row), times


def test_the_cost_of_every_page_is_measured():
    costs, unit = benchmark_pages.measure(rounds=1)
    assert costs.keys() == {page.title for page in PAGES}
    assert unit > 0 and all(milliseconds > 0 for milliseconds, _ in costs.values())


def test_the_core_is_compared_with_others():
    pytest.importorskip("torch", reason="needs tests/requirements-reference.txt")
    import benchmark

    arrays = benchmark.random_arrays((1, 8, 512, 64))
    ours, *ratios = benchmark.compare(*benchmark.contenders(*arrays), rounds=1)
    assert ours > 0 and len(ratios) == 3 and min(ratios) > 0
    assert benchmark.peak_memory(*arrays) <= 1.3
