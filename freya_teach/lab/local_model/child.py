"""The model's server: a script for a Python of its own, which sees the fetched packages. (start)

It is given its settings as one JSON argument, prints one line when it is ready, and ends when
its standard input closes, so that it cannot outlive whoever started it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Load the model, serve, and wait for the end of standard input."""
    settings: dict[str, Any] = json.loads(sys.argv[1])
    sys.path.insert(0, settings["packages"])
    import xllamacpp  # type: ignore[import-not-found] # noqa: PLC0415 - found in the line above

    p = xllamacpp.CommonParams()
    p.model.path = settings["weights"]
    p.model_alias = {settings["name"]}
    p.hostnames, p.port = ["127.0.0.1"], settings["port"]
    p.use_jinja, p.chat_template = True, settings["template"]
    p.n_ctx, p.n_parallel = settings["context"], 1
    p.cpuparams.n_threads = settings["threads"]
    p.sampling.temp, p.sampling.seed = settings["temperature"], settings["seed"]
    # subtle: reading a prompt in two parts rounds differently, so the same question could get
    # another answer, depending on what was asked before it
    p.cache_prompt, p.cache_ram_mib = False, 0
    p.offline, p.ui = True, False
    server = xllamacpp.Server(p)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads do not end by themselves


if __name__ == "__main__":
    main()
