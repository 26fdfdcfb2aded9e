"""Makes only the network of a site: its nodes and cables, without YARN, Java or Lustre."""

from vas_lab.netlab.outside import NetLab

__all__ = ["NetLab"]
