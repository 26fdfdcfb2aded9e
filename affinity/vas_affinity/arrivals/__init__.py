"""Places threads when they appear: notices them, and gives each the CPU that the plan has for it.

`events` and `listening` hear the kernel's process events; `scan` looks at the plan's processes
instead where that is not allowed; `adopt` and `replanned` decide, purely; `placer` does it in a
thread.
"""
