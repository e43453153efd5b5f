"""Pull requests to a dataset of the Hub; as in `write`, nothing is done twice here."""

from __future__ import annotations

from dataclasses import dataclass

from rlconvert.address import HubAddress

from .write import KIND, Access, client


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request that is not closed. A draft is not yet offered to anyone."""

    number: int
    title: str
    draft: bool

    @property
    def revision(self) -> str:
        """Where its commits are."""
        return f"refs/pr/{self.number}"


def open_pulls(address: HubAddress, author: str, access: Access) -> list[Pull]:
    """The pull requests to ``main`` by `author` that are drafts or open, the newest first."""
    with client(address, access) as api:
        return [
            Pull(each.num, each.title, each.status == "draft")
            for each in api.get_repo_discussions(address.repo_id, repo_type=KIND, author=author)
            if each.is_pull_request and each.author == author and each.status in ("draft", "open")
        ]


def describe_pull(address: HubAddress, pull: Pull, access: Access) -> str:
    """The text that a pull request was opened with."""
    from huggingface_hub.community import DiscussionComment

    with client(address, access) as api:
        details = api.get_discussion_details(address.repo_id, pull.number, repo_type=KIND)
        comments = (each for each in details.events if isinstance(each, DiscussionComment))
        return next((each.content for each in comments), "")


def draft_pull(address: HubAddress, title: str, text: str, access: Access) -> Pull:
    """Open a pull request without commits, as a draft."""
    with client(address, access, writing=True) as api:
        made = api.create_pull_request(address.repo_id, title, description=text, repo_type=KIND)
        return Pull(made.num, title, draft=True)


def offer_pull(address: HubAddress, pull: Pull, access: Access) -> None:
    """Make an open pull request of a draft."""
    with client(address, access, writing=True) as api:
        api.change_discussion_status(address.repo_id, pull.number, "open", repo_type=KIND)


def close_pull(address: HubAddress, pull: Pull, comment: str, access: Access) -> None:
    """Close a pull request unmerged."""
    with client(address, access, writing=True) as api:
        api.change_discussion_status(
            address.repo_id, pull.number, "closed", comment=comment, repo_type=KIND
        )


def merge_pull(address: HubAddress, pull: Pull, access: Access) -> None:
    """Merge a pull request into ``main``."""
    with client(address, access, writing=True) as api:
        api.merge_pull_request(address.repo_id, pull.number, repo_type=KIND)
