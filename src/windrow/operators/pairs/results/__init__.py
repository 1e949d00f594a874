"""Joined rows kept one by one."""
