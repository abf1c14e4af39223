"""Two libraries, each with variables of its own, judged against each other (`pipeline versus`)."""
