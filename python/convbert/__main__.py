"""python -m convbert"""

import sys

from .cli import main

sys.exit(main())
