"""Build, train, prove and publish a libhakmem that is compiled for a workload."""
