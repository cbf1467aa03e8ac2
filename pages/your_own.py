"""To be written."""

from pages.shared import shell

shell.open_page("pages/your_own.py")
shell.close_page("pages/your_own.py")
