"""Every download of every page, as a reader gets it: a file that is what its name says."""

import ast
import io
import json

import numpy as np
import pytest

BUTTONS = '[data-testid="stDownloadButton"] button'
PAGES = {  # address -> how many downloads it offers
    "numeric_walkthrough": 3,
    "masking": 2,
    "multi_head?part=Designed+heads": 2,
    "scaling": 1,
    "learning?train=true": 2,
    "your_own": 1,
    "your_own?sample=The+cat+sat+on+the+mat": 4,
}
READ = {
    "py": ast.parse,
    "json": json.loads,
    "npz": lambda content: np.load(io.BytesIO(content), allow_pickle=False).files,
    "csv": lambda content: content.decode().splitlines()[1],
    "md": lambda content: content.decode().index("#"),
}


@pytest.mark.parametrize("path", PAGES)
def test_every_file_is_what_its_name_says(visit, path):
    page = visit(path)
    buttons = page.locator(BUTTONS).filter(visible=True)  # one with a help is there twice
    assert buttons.count() == PAGES[path]
    for button in buttons.all():
        with page.expect_download() as waiting:
            button.click()
        name, content = waiting.value.suggested_filename, waiting.value.path().read_bytes()
        assert READ[name.rsplit(".", 1)[1]](content) is not None, name


def test_no_page_offers_a_download_that_is_not_tested(visit):
    for path in ("", "intuition", "multi_head", "multi_head?part=Heads+of+a+real+model"):
        assert visit(path).locator(BUTTONS).count() == PAGES.get(path, 0)
