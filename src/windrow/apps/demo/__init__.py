"""The smart building: generated readings with known fires, and the alarms found in them."""
