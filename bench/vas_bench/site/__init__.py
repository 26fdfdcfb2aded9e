"""A real site to run plans on: its map, its Hadoop configuration, its nodes."""
