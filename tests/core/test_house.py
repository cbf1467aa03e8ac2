"""Who may know whom: numbers know nothing of pictures, pictures nothing of Streamlit, and no one knows a page."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "attention").glob("*.py"), *(ROOT / "attention" / "charts").glob("*.py")])
PAGES = sorted((ROOT / "pages").rglob("*.py"))
TOP = {"attention", "pages", "tests", "dashboard.py", "requirements.txt", "README.md", "LICENSE", "pyproject.toml"}
HIDDEN = {".ci", ".streamlit", ".gitignore"}


def imports(path):
    """The modules that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: relative"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def packages(path):
    return {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.stem}-{path.stem}")
def test_the_core_needs_numpy_alone(path):
    pictures = path.parent.name == "charts"
    assert packages(path) <= {"numpy", "attention"} | ({"altair", "pandas"} if pictures else set())
    assert pictures or not {name for name in imports(path) if name.startswith("attention.charts")}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_import_no_page(path):
    assert packages(path) <= {"numpy", "pandas", "streamlit", "attention", "pages"}
    pages = {name for name in imports(path) if name.startswith("pages.")}
    assert {name for name in pages if not name.startswith("pages.shared")} == set()


def test_importing_it_loads_nothing_but_numpy():
    script = "import sys; before = set(sys.modules); import attention; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    top = {name.split(".")[0] for name in loaded.stdout.split()}
    assert not top & {"streamlit", "altair", "pandas", "torch"}
    assert {"attention", "numpy"} <= top


def test_the_top_level_holds_what_it_should():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone of the repository")
    assert {name.split("/")[0] for name in listed.stdout.splitlines()} == TOP | HIDDEN


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them all as top-level modules."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


def test_nothing_is_drawn_by_hand():
    """No HTML, CSS or JavaScript of our own."""
    for path in [ROOT / "dashboard.py", *PAGES]:
        text = path.read_text(encoding="utf-8")
        for forbidden in ("unsafe_allow", "components.v1", "st.html", "<style", "<script"):
            assert forbidden not in text, path.name


def test_files_can_be_read_in_one_sitting():
    for path in [*PAGES, *MODULES]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 480, path.name
    assert len((ROOT / "attention" / "core.py").read_text(encoding="utf-8").splitlines()) <= 140
