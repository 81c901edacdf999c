"""What operations are declared with: actors, permissions, inputs, outputs, refusals."""
