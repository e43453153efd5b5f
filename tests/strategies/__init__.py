"""What the laws are tried on: Hypothesis strategies, valid by construction and small.

words.py     names and texts with nasty members
files.py     file trees: executables, links, empty folders, bytes that are no text
tomls.py     `task.toml` from the manual of its keys, in odd spellings
folders.py   whole Harbor task folders
repos.py     repositories of them, in every layout
tasks.py     tasks as the model has them, built without any reader
"""
