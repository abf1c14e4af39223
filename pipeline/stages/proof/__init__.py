"""What a build is worth: the chain of builds, the verdict, real programs."""
