"""The network of a site alone: its nodes and cables, without YARN, Java or Lustre."""

from vas_lab.netlab.outside import NetLab

__all__ = ["NetLab"]
