"""An image as a Vagrant box."""
