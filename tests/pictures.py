"""Renews the pictures of the README, from the app as it is now.

python tests/pictures.py
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

BROWSER = Path(__file__).with_name("browser")
sys.path.insert(0, str(BROWSER))

from driver import FLAGS, chromium, settle, start_server  # noqa: E402

PICTURES = {  # name: (address, colour scheme)
    "walkthrough-light": ("numeric_walkthrough?step=2+Scores&row=1&col=2", "light"),
    "multi-head-dark": ("multi_head?part=Heads+of+a+real+model", "dark"),
}


def main():
    process, address = start_server()
    (BROWSER / "pictures").mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name, (path, scheme) in PICTURES.items():
            page = browser.new_page(viewport={"width": 1300, "height": 1450}, color_scheme=scheme)
            page.goto(f"{address}/{path}")
            settle(page)
            page.screenshot(path=BROWSER / "pictures" / f"{name}.png")
    process.terminate()


if __name__ == "__main__":
    main()
