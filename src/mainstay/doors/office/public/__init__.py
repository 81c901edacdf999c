"""Pages that customers open by a secret link."""
