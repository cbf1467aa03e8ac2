"""A class at work: N readers on one server, each changing something every few seconds.

    python tests/load.py --sessions 30 --seconds 60

Starts its own server on loopback. Each reader is a real websocket session, opens a page by its address, and then
changes one of its controls every 3 s (give or take 1 s). Reported are the times from a change to the last part of
the page that it brings, and the memory of the server before, with all readers, and after they have left.
"""

import argparse
import asyncio
import random
import sys
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from driver import start_server  # noqa: E402

from pages.shared.shell import PAGES  # noqa: E402

PAUSE, JITTER = 3.0, 1.0
KINDS = ("checkbox", "number_input", "slider", "text_input")


class Reader:
    """One session: opens `page`, then changes one control after the other."""

    def __init__(self, address, page, seed):
        self.address = address.replace("http", "ws") + "/_stcore/stream"
        self.name = "" if page.path == "dashboard.py" else Path(page.path).stem
        self.random = random.Random(seed)
        self.widgets, self.times, self.errors = {}, [], []

    async def work(self, seconds):
        try:
            async with websockets.connect(self.address, subprotocols=["streamlit"], max_size=None) as self.socket:
                await self._rerun()
                end = perf_counter() + seconds
                while perf_counter() < end:
                    await asyncio.sleep(PAUSE + self.random.uniform(-JITTER, JITTER))
                    self._change_something()
                    start = perf_counter()
                    await self._rerun()
                    self.times.append(perf_counter() - start)
        except Exception as error:  # counted, and reported at the end
            self.errors.append(f"{type(error).__name__}: {error}")

    async def _rerun(self):
        message = BackMsg()
        message.rerun_script.page_name = self.name
        for element in self.widgets.values():
            message.rerun_script.widget_states.widgets.append(element["state"])
        await self.socket.send(message.SerializeToString())
        while True:
            reply = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), 30))
            kind = reply.WhichOneof("type")
            if kind == "delta":
                self._remember(reply.delta.new_element)
            elif kind == "script_finished" and reply.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return

    def _remember(self, element):
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{self.name}: {element.exception.message}")
        if kind in KINDS:
            widget = getattr(element, kind)
            if widget.id not in self.widgets and not widget.disabled:
                state = BackMsg().rerun_script.widget_states.widgets.add()
                state.id = widget.id
                self.widgets[widget.id] = {"kind": kind, "widget": widget, "state": state}
                self._set(self.widgets[widget.id], widget.default)

    def _change_something(self):
        element = self.random.choice([e for e in self.widgets.values() if e["kind"] != "text_input"])
        widget = element["widget"]
        if element["kind"] == "checkbox":
            value = not element["state"].bool_value
        elif element["kind"] == "slider":
            value = [widget.min + widget.step * self.random.randint(0, int((widget.max - widget.min) / widget.step))]
        else:
            low = widget.min if widget.has_min else 0
            value = low + self.random.randint(0, int(widget.max - low) if widget.has_max else 1)
        self._set(element, value)

    def _set(self, element, value):
        state = element["state"]
        if element["kind"] == "checkbox":
            state.bool_value = value
        elif element["kind"] == "text_input":
            state.string_value = value
        elif element["kind"] == "slider":
            state.double_array_value.data[:] = value
        else:
            state.double_value = value


def memory(process):
    """Resident memory of the server in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def visit(address, sessions, seconds, process):
    readers = [Reader(address, PAGES[i % len(PAGES)], i) for i in range(sessions)]
    working = asyncio.gather(*(reader.work(seconds) for reader in readers))
    await asyncio.sleep(seconds * 0.9)
    full = memory(process)
    await working
    return readers, full


def measure(sessions, seconds, rounds=1):
    """Run `rounds` classes one after the other; a dict of what was measured over all of them."""
    process, address = start_server()
    try:
        asyncio.run(visit(address, len(PAGES), 1, process))  # imports, and charts described for the first time
        before, peak, times, errors, after = memory(process), 0, [], [], []
        for _ in range(rounds):
            readers, full = asyncio.run(visit(address, sessions, seconds, process))
            peak = max(peak, full)
            times += [time for reader in readers for time in reader.times]
            errors += [error for reader in readers for error in reader.errors]
            after.append(round(memory(process)))
    finally:
        process.terminate()
    cuts = quantiles(times, n=100)
    return {
        "sessions": sessions,
        "changes": len(times),
        "p50 ms": round(cuts[49] * 1000),
        "p95 ms": round(cuts[94] * 1000),
        "errors": len(errors),
        "first error": errors[0] if errors else "",
        "MB before": round(before),
        "MB with all": round(peak),
        "MB a session": round((peak - before) / sessions, 2),
        "MB after each round": after,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=30, choices=range(1, 201), metavar="1…200")
    parser.add_argument("--seconds", type=int, default=60, choices=range(1, 301), metavar="1…300")
    parser.add_argument("--rounds", type=int, default=1, choices=range(1, 11), metavar="1…10")
    options = parser.parse_args()
    for name, value in measure(options.sessions, options.seconds, options.rounds).items():
        print(f"{name:>20}: {value}")
