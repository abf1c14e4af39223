"""The operators' command ``hakmem``. Standard library only: a package of it needs Python alone."""
