"""At how many places the code of our loops lies: for what builds them, and what times them."""

from __future__ import annotations

PLACES = 16
"""Where the code of a loop of ours may lie, 32 bytes apart (cmake/places.cmake).

A load is slow while another one shares the lowest nine bits of its address: so seen on Intel model
207, eight on 167. Where a loop meets a load of the library's is chance, and was worth 25 % of
larson's speed (docs/results/judge.md). Over all places both sides meet as often.
"""
