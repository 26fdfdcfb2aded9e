"""`vas-affinityd`: keeps a plan applied, moves to a better one if it pays, reverts bad moves."""
