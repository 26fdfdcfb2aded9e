"""`vas route calibrate`: measures whether the path that the switcher takes is the faster one."""
