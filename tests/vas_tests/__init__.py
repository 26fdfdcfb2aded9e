"""Everything that crosses two rooms: the test command and the end-to-end suites."""
