"""A small Hugging Face Hub look-alike for tests: real HTTP on loopback, real Git repositories.

It answers what the unmodified ``huggingface_hub`` client asks for whoami, creating and deleting
repositories, preupload, `create_commit` and `upload_folder`, LFS batch + upload + verify, tree,
paths-info, repo info, refs, branches, tags, resolve (HEAD and GET), listing by tag, validation of
cards, and discussions and pull requests. Every repository is a bare Git repository, so
``git clone http://127.0.0.1:PORT/datasets/a/b`` works too, and so do commit ids, file modes and
symbolic links made with Git.

    with HubServer(folder, tokens={"hf_alice": "alice"}) as hub:
        HfApi(endpoint=hub.url, token="hf_alice").create_repo("alice/envs", repo_type="dataset")

Needed: the standard library, PyYAML and a ``git`` program. Not there: the Xet protocol (clients
set ``HF_HUB_DISABLE_XET=1``; without it `upload_folder` works as long as no file needs LFS),
merges that are no fast-forward, webhooks, the viewer.
"""

from .repo import Discussion, Refusal, Repo
from .server import HubServer
from .storage import Fault

__all__ = ["Discussion", "Fault", "HubServer", "Refusal", "Repo"]
