"""The timeline projection: where everything of a rollout lies. The only package that knows SQLite."""
