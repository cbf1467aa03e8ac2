"""To be written."""

from pages.shared import shell

shell.open_page("pages/masking.py")
shell.close_page("pages/masking.py")
