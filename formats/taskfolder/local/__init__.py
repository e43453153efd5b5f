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
nothing bounds its memory or its processes. What a task cannot do is read the environment or the
files of the host, or outlive the run. Root in the machine has the rights that podman gives it;
setuid programs do not work; a user other than root is to be had only where root runs it.

The base is a substitute for whatever the Dockerfile names: what passes here is sane, what fails
here may be the fault of the base.
"""
