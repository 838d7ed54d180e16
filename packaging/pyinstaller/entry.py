"""Where the packaged program begins: `lockstitch VERB …`, of which `serve` is the process that a host spawns."""

import sys

from lockstitch.__main__ import main

sys.exit(main())
