"""The evaluation of an assistant: thirty tasks in a sample firm, judged by what they did to its records."""
