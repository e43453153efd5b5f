"""Addresses of datasets on the Hub."""

from __future__ import annotations

import pytest
from huggingface_hub.errors import HfUriError, HFValidationError
from huggingface_hub.utils._hf_uris import parse_hf_uri
from huggingface_hub.utils._validators import validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.address import HubAddress, is_repo_id, parse_hub_address
from rlconvert.errors import RlconvertError, UsageError

PAGE = "https://huggingface.co/datasets/org/name"
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "revision", "path"),
    [
        ("org/name", None, ""),
        ("org/name@v1.0", "v1.0", ""),
        (f"org/name@{SHA}", SHA, ""),
        ("org/name@feat/x", "feat/x", ""),
        ("org/name@refs/pr/3", "refs/pr/3", ""),
        ("hf://datasets/org/name", None, ""),
        ("hf://datasets/org/name/", None, ""),
        ("hf://datasets/org/name@main", "main", ""),
        ("hf://datasets/org/name@main/tasks/a", "main", "tasks/a"),
        ("hf://datasets/org/name/tasks/a/", None, "tasks/a"),
        ("hf://datasets/org/name/at@home/x", None, "at@home/x"),
        ("hf://datasets/org/name@feat%2Fx/tasks", "feat/x", "tasks"),
        ("hf://datasets/org/name@refs/pr/3", "refs/pr/3", ""),
        ("hf://datasets/org/name@refs/pr/3/tasks/a", "refs/pr/3", "tasks/a"),
        ("hf://datasets/org/name@refs/convert/parquet/x", "refs/convert/parquet", "x"),
        (PAGE, None, ""),
        (f"{PAGE}/", None, ""),
        (f"{PAGE}.git", None, ""),
        (f"{PAGE}?library=harbor#tasks", None, ""),
        ("http://huggingface.co/datasets/org/name", None, ""),
        ("HTTPS://HuggingFace.co/datasets/org/name", None, ""),
        ("huggingface.co/datasets/org/name", None, ""),
        ("https://hf.co/datasets/org/name", None, ""),
        (f"{PAGE}/tree/v1", "v1", ""),
        (f"{PAGE}/tree/v1/tasks/a%20b", "v1", "tasks/a b"),
        (f"{PAGE}/blob/main/tasks/a/task.toml", "main", "tasks/a/task.toml"),
        (f"{PAGE}/resolve/{SHA}/data/x.jsonl?download=true", SHA, "data/x.jsonl"),
        (f"{PAGE}/tree/refs%2Fpr%2F3/tasks", "refs/pr/3", "tasks"),
        (f"{PAGE}/tree/refs/pr/3/tasks", "refs/pr/3", "tasks"),
        (f"{PAGE}/commit/{SHA}", SHA, ""),
    ],
)
def test_forms(text: str, revision: str | None, path: str) -> None:
    assert parse_hub_address(text) == HubAddress("org/name", revision, path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "/org/name",
        "./org/name",
        "../name",
        "~/name",
        "org/name/",
        "org/name/more",
        "org//name",
        "org/name@",
        "org/name@a b",
        "org/name@a..b",
        "org/name@-x",
        "org/na me",
        "org/näme",
        "org/name.git",
        "org/a--b",
        "-org/name",
        "org/name-",
        "org/" + "n" * 97,
        "org\\name",
        "C:/name",
        "https://example.org/datasets/org/name",
        "https://huggingface.co.example.org/datasets/org/name",
        "https://[broken/datasets/org/name",
        "git@hf.co:datasets/org/name",
        "s3://bucket/name",
    ],
)
def test_not_an_address(text: str) -> None:
    assert parse_hub_address(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "hf://",
        "hf://org/name",
        "hf://models/org/name",
        "hf://spaces/org/name",
        "hf://datasets/name",
        "hf://datasets/org/",
        "hf://datasets/org/name@",
        "hf://datasets/org/name@a b",
        "hf://datasets/org/name//tasks",
        "hf://datasets/org/name/../other",
        "hf://datasets/org/name/tasks/./a",
        "hf://datasets/org/name/a\\b",
        "https://huggingface.co",
        "https://huggingface.co/org/name",
        "https://huggingface.co/spaces/org/name",
        "https://huggingface.co/datasets/name",
        f"{PAGE}/discussions/3",
        f"{PAGE}/viewer/default/train",
        f"{PAGE}/tree/main/%2e%2e/%2e%2e/etc",
        f"{PAGE}/tree/main/a%00b",
    ],
)
def test_an_address_that_names_no_dataset(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_hub_address(text)
    assert caught.value.remedy


def test_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_hub_address("https://alice:hf_secret@huggingface.co/datasets/org/name")
    assert "hf_secret" not in str(caught.value)


def test_the_endpoint_is_a_host_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "http://hub.example.org:8080/base/datasets/org/name/tree/v1"
    assert parse_hub_address(text) is None
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example.org:8080/base/")
    assert parse_hub_address(text) == HubAddress("org/name", "v1")
    assert parse_hub_address("http://hub.example.org:8080/basement/datasets/org/name") is None
    assert parse_hub_address("http://hub.example.org/base/datasets/org/name") is None
    assert parse_hub_address(PAGE) == HubAddress("org/name")


id_parts = st.text("ab-_.9é", max_size=5)


@given(st.tuples(id_parts, id_parts).map("/".join))
def test_repo_ids_are_those_of_the_client(text: str) -> None:
    try:
        validate_repo_id(text)
        theirs = True
    except HFValidationError:
        theirs = False
    assert is_repo_id(text) == theirs


revisions = st.one_of(
    st.just("refs/pr/12"),
    st.just("refs/convert/parquet"),
    st.text("ab1./-_@%é+ ", min_size=1, max_size=8),
)
paths = st.lists(st.text("ab.@%é #", min_size=1, max_size=4), max_size=3).map("/".join)


@given(st.sampled_from(["org/name", "O.g_/n-1"]), st.none() | revisions, paths)
def test_the_canonical_form_comes_back(repo_id: str, revision: str | None, path: str) -> None:
    address = HubAddress(repo_id, revision, path)
    try:
        parsed = parse_hub_address(str(address))
    except UsageError:
        return  # a revision or path that cannot be
    assert parsed == address
    assert str(parsed) == str(address)


@given(st.text("afhinop:/@.%2Fdtse-tr", max_size=40) | st.text(max_size=20))
def test_any_text_gives_an_address_or_a_typed_error(tail: str) -> None:
    for text in (tail, "org/" + tail, "hf://datasets/" + tail, f"{PAGE}/{tail}", f"{PAGE}@{tail}"):
        try:
            address = parse_hub_address(text)
        except RlconvertError:
            continue
        if address is not None:
            assert is_repo_id(address.repo_id)
            assert parse_hub_address(str(address)) == address


@given(st.none() | st.text("ab1-_", min_size=1, max_size=5), paths)
def test_uris_mean_what_they_mean_to_the_client(revision: str | None, path: str) -> None:
    text = "hf://datasets/org/name" + (f"@{revision}" if revision else "")
    text += f"/{path}" if path else ""
    try:
        ours, theirs = parse_hub_address(text), parse_hf_uri(text)
    except (UsageError, HfUriError):
        return
    assert ours == HubAddress(theirs.id, theirs.revision, theirs.path_in_repo)
