"""Packs an image as a Vagrant box."""
