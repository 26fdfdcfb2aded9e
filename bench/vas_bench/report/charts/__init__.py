"""Charts as plain marks, computed without a browser, drawn by one template."""
