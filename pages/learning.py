"""To be written."""

from pages.shared import shell

shell.open_page("pages/learning.py")
shell.close_page("pages/learning.py")
