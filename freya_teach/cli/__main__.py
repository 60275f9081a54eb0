"""`python -m freya_teach.cli`: the command where its script is not on the path. (start)"""

from freya_teach.cli.main import main

main()
