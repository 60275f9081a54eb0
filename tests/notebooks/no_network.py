"""Run a program where there is no network but loopback: `no_network.py PROGRAM ARGUMENT …`.

Started by `unshare --net`, whose new world has no route to anywhere and loopback switched off. It
proves that first, and then becomes the program.
"""

import fcntl
import os
import socket
import struct
import sys

SET_FLAGS, UP = 0x8914, 0x1  # SIOCSIFFLAGS and IFF_UP of <linux/sockios.h> and <linux/if.h>

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
with socket.socket() as way_out:
    try:
        way_out.connect(("192.0.2.1", 443))
    except OSError as refused:
        print(f"no way out: {refused.strerror}", flush=True)
    else:
        sys.exit("this place has a network")
os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - to become the program is what it is for
