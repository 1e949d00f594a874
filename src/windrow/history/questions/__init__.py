"""Questions about the past: asked once or again and again, answered with bounds."""
