"""`vas-affinityd`: keeps a plan true, takes a better one when it pays, and takes back what hurt."""
