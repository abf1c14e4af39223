"""What a reviewer of a change is told: the build held against the version it was made from."""
