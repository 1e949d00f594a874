"""The largest of many words that come and go: heaps in an arena and monotone queues."""
