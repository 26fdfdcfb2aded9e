"""`vas bench fetch`: one server of map output and its clients, stock's and the daemon's."""
