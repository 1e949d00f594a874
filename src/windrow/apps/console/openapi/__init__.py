"""The OpenAPI 3.1 document of the console's HTTP API."""
