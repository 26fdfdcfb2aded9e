"""The guest image: built, looked into, and booted."""
