"""Evidence beside the verdict: what each step was worth, and whether the layout was luck."""
