"""To be written."""

from pages.shared import shell

shell.open_page("pages/multi_head.py")
shell.close_page("pages/multi_head.py")
