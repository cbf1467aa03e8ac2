"""What a reader waits for, in a real browser: a control moved until its charts are repainted, and first pictures.

Milliseconds, in Chromium and a server of its own on the same machine, so both share its cores.
"""

import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from playwright.sync_api import sync_playwright

sys.path[:0] = [str(Path(__file__).parent / "browser")]

from driver import FLAGS, chromium, settle, start_server  # noqa: E402

MOVES = (  # address, role and name of a control, and the keys that move it there and back
    ("intuition", "slider", "Sharpness", "ArrowRight ArrowLeft"),
    ("numeric_walkthrough?step=5+Softmax", "switch", "Causal mask", "Space Space"),
    ("masking?mask=Sliding+window", "spinbutton", "Keys to the left", "ArrowUp ArrowDown"),
    ("multi_head?part=Designed+heads", "slider", "Sharpness of all heads", "ArrowRight ArrowLeft"),
    ("scaling?part=Weights", "slider", "Another exponent", "ArrowLeft ArrowRight"),
)
# From the next key to the last change of a chart on the screen, once none of them has changed for 400 ms.
WATCH = """() => { window.repainted = new Promise(done => {
    let start, last, timer
    addEventListener('keydown', () => { start = performance.now() }, {capture: true, once: true})
    const watch = new MutationObserver(() => {
        if (!start) return
        last = performance.now()
        clearTimeout(timer)
        timer = setTimeout(() => { watch.disconnect(); done(last - start) }, 400)
    })
    for (const chart of document.querySelectorAll('[data-testid="stVegaLiteChart"]')) {
        const box = chart.getBoundingClientRect()
        if (box.bottom > 0 && box.top < innerHeight)  // and its parent, in which a new chart would take its place
            watch.observe(chart.parentElement, {subtree: true, childList: true, attributes: true})
    }
    setTimeout(() => { watch.disconnect(); done(null) }, 10000)
}) }"""


def measure(browser, changes=40):
    """{what: milliseconds, a list}: the first lesson on a server just started and on a warm one, and each move."""
    begin = perf_counter()
    process, address = start_server()
    try:
        times = {"first lesson, from the start of the server": [_first_picture(browser, address, begin)]}
        warm = [_first_picture(browser, address, perf_counter()) for _ in range(5)]
        times["first lesson, on a warm server"] = warm
        for move in MOVES:
            times[f"{move[0].split('?')[0]}: {move[2]}"] = _repaints(browser, address, *move, changes)
    finally:
        process.terminate()
    return times


def _first_picture(browser, address, begin):
    page = browser.new_context().new_page()
    page.goto(f"{address}/intuition")
    page.locator('[data-testid="stVegaLiteChart"] svg .mark-rect path').first.wait_for()
    time = 1000 * (perf_counter() - begin)
    page.context.close()
    return time


def _repaints(browser, address, path, role, name, keys, changes):
    page = browser.new_context(viewport={"width": 1300, "height": 800}).new_page()
    page.goto(f"{address}/{path}")
    settle(page)
    control, times = page.get_by_role(role, name=name).first, []
    for change in range(changes):
        control.focus()
        page.evaluate(WATCH)
        page.keyboard.press(keys.split()[change % 2])
        times.append(page.evaluate("() => window.repainted"))
        settle(page)
    page.context.close()
    return times[2:]  # the first ones describe charts


def table(changes=40):
    """The measurements as Markdown."""
    with sync_playwright() as driver:
        times_of = measure(driver.chromium.launch(executable_path=chromium(), args=FLAGS), changes)
    lines = ["| | median, ms | 95th percentile, ms |", "|---|---|---|"]
    for what, times in times_of.items():
        high = quantiles(times, n=20)[-1] if len(times) > 5 else max(times)
        lines.append(f"| {what} | {median(times):.0f} | {high:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
