"""Drawings of the HTML report: small functions from figures to inline SVG, styled by CSS alone."""
