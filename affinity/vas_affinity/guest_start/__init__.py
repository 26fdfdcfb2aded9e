"""Places the threads of a guest that libvirt has just started: what libvirt's hook runs.

libvirt waits for its hook, so nothing here asks libvirt: the answer would never come.
"""
