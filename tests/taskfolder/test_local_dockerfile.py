"""The part of Dockerfiles that the local machine knows, and what it says of the rest."""

from contextlib import suppress
from textwrap import dedent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlconvert.formats.taskfolder.local.dockerfile import (
    PATH,
    BadDockerfile,
    Copy,
    MakeFolder,
    Recipe,
    Run,
    read_dockerfile,
)
from rlconvert.formats.taskfolder.local.refusals import Refused
from rlconvert.formats.taskfolder.local.words import BadWord, UnknownWord, expand, split_words


def read(text: str) -> Recipe:
    return read_dockerfile("FROM ubuntu:24.04\n" + dedent(text))


def command(text: str) -> str:
    """The one shell command of a Dockerfile."""
    (run,) = read(text).actions
    assert isinstance(run, Run)
    assert run.command[:-1] == ("/bin/sh", "-c")
    return run.command[-1]


# --- lines -------------------------------------------------------------------------------------


def test_continued_lines_are_one_and_comments_in_them_are_none() -> None:
    text = "RUN apt-get update \\\n  # why\n\n    && true \\  \n  && false\n"
    assert command(text) == "apt-get update     && true   && false"


def test_an_escaped_backslash_continues_nothing() -> None:
    assert command("RUN echo a\\\\\n") == "echo a\\\\"


def test_a_number_sign_inside_a_line_is_no_comment() -> None:
    assert command("# one\nRUN echo a # b\n") == "echo a # b"


def test_lines_of_windows_and_a_file_without_last_line_end() -> None:
    assert command("RUN echo a \\\r\n  b\r\n") == "echo a   b"
    assert command("RUN echo a \\") == "echo a"


def test_instructions_in_any_case_and_with_any_white_space() -> None:
    assert command("   run\t  echo a") == "echo a"


def test_a_byte_order_mark_and_directives_come_first() -> None:
    text = "\ufeff# syntax=docker/dockerfile:1\n# escape=\\\nFROM ubuntu:24.04\n"
    assert read_dockerfile(text).actions == ()


def test_another_escape_is_refused() -> None:
    with pytest.raises(Refused, match=r"environment/Dockerfile, line 1: .*another character"):
        read_dockerfile("# escape=`\nFROM ubuntu:24.04\n")


# --- FROM --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "base",
    [
        "ubuntu",
        "ubuntu:24.04",
        "python:3.13-slim",
        "docker.io/library/debian:trixie",
        "library/debian",
        "ubuntu:24.04@sha256:" + "0" * 64,
        "--platform=linux/amd64 ubuntu:24.04",
        "--platform=$TARGETPLATFORM ubuntu:24.04 AS base",
        "ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624",
    ],
)
def test_general_images_have_a_substitute(base: str) -> None:
    assert read_dockerfile(f"FROM {base}\n") == Recipe()


@pytest.mark.parametrize(
    "base",
    [
        "scratch",
        "acme/tool:1",
        "ghcr.io/acme/ubuntu:24.04",
        "localhost:5000/ubuntu",
        "registry.x/a",
    ],
)
def test_an_image_with_an_owner_has_none(base: str) -> None:
    with pytest.raises(Refused, match="only the image"):
        read_dockerfile(f"FROM {base}\n")


def test_arguments_before_from_are_known_to_it_and_to_whoever_asks() -> None:
    recipe = read_dockerfile("ARG V=24.04\nARG W=1\nFROM ubuntu:$V\nARG V\nENV A=$V B=$W\n")
    assert recipe.env["A"] == "24.04"
    assert recipe.env["B"] == ""


def test_several_stages_are_refused() -> None:
    with pytest.raises(Refused, match="several stages"):
        read("FROM ubuntu:24.04\n")


@pytest.mark.parametrize("text", ["", "RUN a\n", "FROM\n", "FROM ubuntu\nRUNN a\n"])
def test_what_no_builder_takes(text: str) -> None:
    with pytest.raises(BadDockerfile):
        read_dockerfile(text)


# --- RUN ---------------------------------------------------------------------------------------


def test_commands_start_where_and_as_what_was_said_before() -> None:
    recipe = read(
        """\
        ARG MODE=fast
        ENV A=1 \\
            B="two words"
        RUN one
        WORKDIR /srv
        WORKDIR app
        USER dev:staff
        SHELL ["/bin/bash", "-o", "pipefail", "-c"]
        RUN two | three
        """
    )
    env = {"PATH": PATH, "A": "1", "B": "two words"}
    with_args = {**env, "MODE": "fast"}
    shell = ("/bin/bash", "-o", "pipefail", "-c", "two | three")
    assert recipe == Recipe(
        actions=(
            Run(5, ("/bin/sh", "-c", "one"), with_args, "/", None),
            MakeFolder("/srv"),
            MakeFolder("/srv/app"),
            Run(10, shell, with_args, "/srv/app", "dev:staff"),
        ),
        env=env,
        workdir="/srv/app",
        user="dev:staff",
    )


def test_a_command_in_json_needs_no_shell() -> None:
    (run,) = read('RUN ["a", "b c"]\n').actions
    assert isinstance(run, Run)
    assert run.command == ("a", "b c")


def test_what_is_no_json_is_for_the_shell() -> None:
    assert command("RUN [ -d /app ]\n") == "[ -d /app ]"


def test_commands_keep_their_variables() -> None:
    assert command('RUN echo "$A" ${B:-c}\n') == 'echo "$A" ${B:-c}'


def test_variables_win_over_arguments() -> None:
    (run,) = read("ARG A=argument\nENV A=variable\nARG A=again\nRUN x\n").actions
    assert isinstance(run, Run)
    assert run.env["A"] == "variable"


def test_an_argument_without_default_is_not_set() -> None:
    (run,) = read("ARG HTTP_PROXY\nRUN x\n").actions
    assert isinstance(run, Run)
    assert "HTTP_PROXY" not in run.env


def test_a_cache_is_left_away_and_other_mounts_are_refused() -> None:
    assert command("RUN --mount=type=cache,target=/c --network=default x\n") == "x"
    for flag in ("--mount=type=secret,id=a", "--network=none", "--security=insecure"):
        with pytest.raises(Refused, match="has the flag"):
            read(f"RUN {flag} x\n")
    with pytest.raises(Refused, match="has the flag"):
        read("RUN --mount=type=cache,target=/c --mount=type=bind,target=/d x\n")


@pytest.mark.parametrize(
    "text", ["RUN <<EOF\nx\nEOF\n", "RUN cat <<-'E' > a\nE\n", "COPY <<E /a\nE\n"]
)
def test_here_documents_are_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"line 2: .*here-document"):
        read(text)


@pytest.mark.parametrize("text", ["cat <<< word", "echo $((1<<n))", "a <b"])
def test_other_angles_are_not(text: str) -> None:
    assert command(f"RUN {text}\n") == text


# --- ENV ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ENV X=1", "1"),
        ("ENV X=", ""),
        ("ENV X one  two", "one  two"),
        ('ENV X="a b" Y=2', "a b"),
        ("ENV X='$Y'", "$Y"),
        ("ENV X=a\\ b", "a b"),
        ("ENV X=/opt/bin:$PATH", f"/opt/bin:{PATH}"),
        ("ENV Y=1\nENV X=$Y Y=2", "1"),
        ("ENV Y=1\nENV Y=2 X=$Y", "1"),
    ],
)
def test_variables_for_all_that_comes_after(text: str, value: str) -> None:
    assert read(text + "\n").env["X"] == value


# --- COPY and ADD ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("COPY a /b", Copy(2, ("a",), "/b", folder=False)),
        ("COPY a b/", Copy(2, ("a",), "/b", folder=True)),
        ("COPY a .", Copy(2, ("a",), "/", folder=True)),
        ("COPY a b c", Copy(2, ("a", "b"), "/c", folder=True)),
        ('COPY ["a b", "/c"]', Copy(2, ("a b",), "/c", folder=False)),
        ("COPY --link --chmod=755 a /b", Copy(2, ("a",), "/b", folder=False, mode=0o755)),
        ("COPY --chown=7 a /b", Copy(2, ("a",), "/b", folder=False, owner=(7, 7))),
        ("COPY --chown=7:8 a /b", Copy(2, ("a",), "/b", folder=False, owner=(7, 8))),
        ("COPY --chown=root:root a /b", Copy(2, ("a",), "/b", folder=False)),
        ("ADD a /b", Copy(2, ("a",), "/b", folder=False, unpacks=True)),
    ],
)
def test_files_of_the_context(text: str, copy: Copy) -> None:
    assert read(text + "\n").actions == (copy,)


def test_a_target_is_below_the_working_folder() -> None:
    copied = read("ARG D=x\nWORKDIR /app\nCOPY $D.txt ../$D\n").actions[-1]
    assert copied == Copy(4, ("x.txt",), "/x", folder=False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("COPY --from=build a /b", "flag --from"),
        ("COPY --exclude=x a /b", "flag --exclude"),
        ("COPY --chown=dev a /b", "by name"),
        ("COPY --chmod=u+x a /b", "by name"),
        ("ADD https://example.org/a /b", "from elsewhere"),
        ("ADD git@example.org:a.git /b", "from elsewhere"),
        ("ENTRYPOINT /start", "ENTRYPOINT would start"),
        ('ENTRYPOINT ["/start"]', "ENTRYPOINT would start"),
        ("HEALTHCHECK CMD true", "health check"),
        ("WORKDIR ${A%b}", "unknown way"),
        ("SHELL " + "[" * 100_000, "too deep"),
        ("USER " + "${A:-" * 100_000, "too deep"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    with pytest.raises(Refused, match=rf"environment/Dockerfile, line 2: .*{problem}"):
        read(text + "\n")


def test_what_does_not_matter_to_a_task_is_passed_over() -> None:
    text = "LABEL a=b\nEXPOSE 80\nCMD x\nENTRYPOINT []\nHEALTHCHECK NONE\nVOLUME /v\n"
    assert read(text) == Recipe()


@pytest.mark.parametrize("text", ["COPY a\n", "ENV\n", "ENV A=1 B\n", "SHELL bash\n", "USER 'a\n"])
def test_malformed(text: str) -> None:
    with pytest.raises(BadDockerfile, match="line 2"):
        read(text)


WORDS = st.sampled_from(
    [
        *("FROM", "RUN", "COPY", "ADD", "ENV", "ARG", "WORKDIR", "USER", "SHELL", "ENTRYPOINT"),
        *("ubuntu", "a", "A=1", "$A", "${A", "${A:-", "}", "'", '"', "\\", "\\\n", "\n", "\t"),
        *("[", '["a", 1]', '["a"]', "{}", "--from=a", "--", "#", "# escape=`", "=", " ", "\0", "é"),
    ]
)


@example("\\\n \\")
@given(st.lists(WORDS).map(" ".join) | st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for whole in (text, f"FROM ubuntu\n{text}"):
        with suppress(Refused, BadDockerfile):
            read_dockerfile(whole)


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("a$A-b", "a1-b"),
        ("${A}b", "1b"),
        ("$NOT.", "."),
        ("${NOT:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${A:+d}", "d"),
        ("${EMPTY:+d}", ""),
        ("${NOT:-${A}2}", "12"),
        ("'$A'", "$A"),
        ('"$A \\$A \\n"', "1 $A \\n"),
        ("\\$A", "$A"),
        ("$", "$"),
        ("cost $5", "cost $5"),
    ],
)
def test_expansion(word: str, meaning: str) -> None:
    assert expand(word, {"A": "1", "EMPTY": ""}) == meaning


@pytest.mark.parametrize("word", ["'a", '"a', "${A:-b"])
def test_words_without_an_end(word: str) -> None:
    with pytest.raises(BadWord):
        expand(word, {})


@pytest.mark.parametrize("word", ["${A#b}", "${A/b/c}", "${1}"])
def test_expansions_that_are_not_known(word: str) -> None:
    with pytest.raises(UnknownWord):
        expand(word, {"A": "1"})


def test_words_are_parted_outside_quotes() -> None:
    assert split_words("a='b c'  d=\"e f\" g=h\\ i") == ["a='b c'", 'd="e f"', "g=h\\ i"]
