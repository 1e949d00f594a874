"""Jobs and buckets on Spark, driven step by step."""
