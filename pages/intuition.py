"""To be written."""

from pages.shared import shell

shell.open_page("pages/intuition.py")
shell.close_page("pages/intuition.py")
