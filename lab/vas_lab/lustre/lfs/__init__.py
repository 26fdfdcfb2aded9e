"""The lab's `lfs`: the options, texts and exit statuses of lfs 2.17.57."""
