"""The map of the site (cluster.yaml): which VM belongs to which storage server."""

from vas_cluster.loading import default_path, load_cluster, load_site, parse_cluster
from vas_cluster.model import Cluster, Flock, Guest, Host, Queue

__all__ = [
    "Cluster",
    "Flock",
    "Guest",
    "Host",
    "Queue",
    "default_path",
    "load_cluster",
    "load_site",
    "parse_cluster",
]
