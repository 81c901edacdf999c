"""Pages about the work: customers, jobs, schedule, hours and people."""
