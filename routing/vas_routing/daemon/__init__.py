"""`vas-routed`: keeps a node's routes right while paths come and go."""
