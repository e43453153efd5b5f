"""Runs task folders on this machine: quick checks without an image or a daemon.

The user names a root file system. Each trial gets an overlay of it, in which the task's Dockerfile
is carried out and its phases run as Harbor 0.26.0 runs them, with bubblewrap around it all.

dockerfile.py, words.py   the part of Dockerfiles that is known
refusals.py               what is refused before anything runs
machine.py, enter.py      the overlay, bubblewrap, commands in it
building.py               the layer that a Dockerfile makes
phases.py, rewards.py     agent, verifier, reward
running.py, __main__.py   an order (`rlconvert.runner`) to its trials

It is no security boundary: as root a task shares the kernel and the network of this machine, and
nothing bounds its memory, its processes or its disk but 8 GiB a file. Meant is that a task reads
no variable and no file of the host, writes none, and does not outlive the run. Root in the machine
has the rights that podman gives it; setuid programs do not work; there is no /sys.

Needs bubblewrap, util-linux and a kernel with overlayfs, whose upper folders (`Order.work`) may not
be on an overlay themselves. Who is not root needs user namespaces, Linux 5.11 and a root file
system of their own; then the machine has no user but root.

The base is a substitute for whatever the Dockerfile names: what passes here is sane, what fails
here may be the fault of the base.
"""
