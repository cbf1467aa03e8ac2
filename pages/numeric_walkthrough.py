"""To be written."""

from pages.shared import shell

shell.open_page("pages/numeric_walkthrough.py")
shell.close_page("pages/numeric_walkthrough.py")
