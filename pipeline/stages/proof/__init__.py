"""What a build is worth: the chain of builds, the verdict, random layouts, real programs."""
