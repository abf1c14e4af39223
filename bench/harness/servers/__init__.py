"""Real servers under load, with different allocators preloaded: throughput, latency, memory."""
