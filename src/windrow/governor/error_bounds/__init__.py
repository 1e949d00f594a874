"""How far an answer from a window that was narrowed can be from the exact one."""
