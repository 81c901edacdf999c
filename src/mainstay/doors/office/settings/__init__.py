"""Settings of the organisation, import and export, and the pages for developers."""
