"""The built-in assistant: works on people's questions with a language model and the tools of the tool server."""
