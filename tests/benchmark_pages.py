"""What one rerun of each page costs the server, in units of one plain annotated 6 × 6 Altair heatmap.

Both are measured in the same process, in turns, and an empty script is taken off both.
"""

from pathlib import Path
from statistics import median
from time import perf_counter

from streamlit.testing.v1 import AppTest

from pages.shared.shell import PAGES

ROOT = Path(__file__).parents[1]


def heatmap_script():
    import altair as alt
    import numpy as np
    import pandas as pd
    import streamlit as st

    row, column = np.indices((6, 6))
    data = pd.DataFrame({"row": row.ravel(), "column": column.ravel(), "weight": np.linspace(0, 1, 36)})
    base = alt.Chart(data).encode(x="column:O", y="row:O", tooltip=["row", "column", "weight"])
    text = base.mark_text().encode(text=alt.Text("weight:Q", format=".2f"))
    st.altair_chart(base.mark_rect().encode(color="weight:Q") + text)


def empty_script():
    pass


def measure(rounds=15):
    """{page title: (milliseconds of a rerun, the same in units of a heatmap)}, and the unit in milliseconds."""
    apps = {"empty": AppTest.from_function(empty_script), "heatmap": AppTest.from_function(heatmap_script)}
    for page in PAGES:
        apps[page.title] = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=60)
        if page.path != "dashboard.py":
            apps[page.title].switch_page(page.path)
    times = {name: [] for name in apps}
    for _ in range(rounds + 2):
        for name, app in apps.items():
            start = perf_counter()
            app.run()
            times[name].append((perf_counter() - start) * 1000)
    cost = {name: median(values[2:]) for name, values in times.items()}  # the first runs describe the charts
    empty, unit = cost.pop("empty"), cost.pop("heatmap")
    return {name: (value - empty, (value - empty) / (unit - empty)) for name, value in cost.items()}, unit - empty


def table():
    """The measurements as Markdown."""
    pages, unit = measure()
    lines = [
        f"One plain 6 × 6 heatmap: {unit:.1f} ms.",
        "",
        "| page | rerun, ms | in heatmaps |",
        "|---|---|---|",
    ]
    return "\n".join(lines + [f"| {name} | {ms:.1f} | {ratio:.2f} |" for name, (ms, ratio) in pages.items()])


if __name__ == "__main__":
    print(table())
