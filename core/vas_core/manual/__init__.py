"""The documents in two other forms: man pages of the commands, and a site of the pages."""
