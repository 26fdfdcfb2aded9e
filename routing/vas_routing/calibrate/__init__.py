"""`vas route calibrate`: is the path that the switcher takes the faster one?"""
