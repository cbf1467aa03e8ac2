"""Pages as Streamlit runs them, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def open_page():
    """open_page("pages/masking.py", words="a b") -> the AppTest of that page, opened with that address."""

    def opened(path="dashboard.py", **query):
        app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=30)
        if path != "dashboard.py":
            app.switch_page(path)  # and this run is the first one, as that of a deep link
        for key, value in query.items():
            app.query_params[key] = str(value)
        return app.run()

    return opened
