"""The measuring engine: rounds in a drawn order, played, kept in a file and gone on from."""
