"""To be written."""

from pages.shared import shell

shell.open_page("pages/scaling.py")
shell.close_page("pages/scaling.py")
