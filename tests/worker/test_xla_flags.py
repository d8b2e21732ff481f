"""Flags that XLA would misread are refused before a process is started."""

from __future__ import annotations

import pytest

from xlacompare.errors import UsageError
from xlacompare.worker.xla_flags import check_flags, merge_flags, refused_flags, user_flags


@pytest.mark.parametrize("flags", ["", "  ", "--xla_a", "--xla_a=1 --xla_b=x,y", "--xla_a\n--xla_b\t--xla_c=/a/b-c"])
def test_good_flags_are_kept_as_they_are(flags: str) -> None:
    assert check_flags(flags, "--xla-flags") == flags.split()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("\u2013\u2013xla_a", "U+2013"),
        ("--xla_a \u2014xla_b", "U+2014"),
        ("xla_a=1", "does not start with '--'"),
        ("-xla_a=1", "--xla_a=1"),
        ("--xla_a=1 intra_op_parallelism_threads=1", "intra_op_parallelism_threads=1"),
        ("--xla_dump_to=/a/sp ace", "'ace'"),
        ("--xla_a=''", "quote"),
        ('--xla_a="x"', "quote"),
    ],
)
def test_bad_flags_are_named(flags: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_flags(flags, "--jax-xla-flags")
    assert said in str(caught.value)
    assert str(caught.value).startswith("--jax-xla-flags")


def test_a_later_group_stands_later() -> None:
    assert merge_flags(["--xla_a=1"], [], ["--xla_a=2"]) == "--xla_a=1 --xla_a=2"


def test_the_users_own_flags_are_kept_but_not_the_dump_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/elsewhere --xla_cpu_enable_fast_math=true")
    assert user_flags() == ["--xla_cpu_enable_fast_math=true"]


def test_the_message_of_xla_is_understood() -> None:
    # The two forms of xla/parse_flags_from_env.cc, for one flag and for several.
    assert refused_flags("F0000 x.cc:1] Unknown flag in XLA_FLAGS: --xla_a=1 ") == ["--xla_a=1"]
    assert refused_flags("Unknown flags in XLA_FLAGS: --xla_a --xla_b\nmore") == ["--xla_a", "--xla_b"]
    assert refused_flags("all is well") == []
