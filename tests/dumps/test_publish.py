from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from xlacompare.dumps import check_free, publish
from xlacompare.errors import DumpError


def finished(parent: Path, text: str = "new") -> Path:
    folder = Path(tempfile.mkdtemp(dir=parent))
    (folder / "sub").mkdir()
    (folder / "sub" / "module_0000.txt").write_text(text)
    return folder


def test_moved_into_a_place_that_did_not_exist(tmp_path: Path) -> None:
    final = tmp_path / "dumps" / "linear" / "grad" / "jax"
    temp = finished(tmp_path)
    assert publish(temp, final) == final
    assert (final / "sub" / "module_0000.txt").read_text() == "new"
    assert not temp.exists()
    assert [each.name for each in final.parent.iterdir()] == ["jax"]
    # an ordinary folder, not mkdtemp's that only its owner may open
    ordinary = tmp_path / "ordinary"
    ordinary.mkdir()
    assert final.stat().st_mode == ordinary.stat().st_mode


def test_empty_folder_is_taken(tmp_path: Path) -> None:
    final = tmp_path / "jax"
    final.mkdir()
    publish(finished(tmp_path), final)
    assert (final / "sub").is_dir()


def test_something_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    final = tmp_path / "jax"
    final.mkdir()
    (final / "mine.txt").write_text("old")
    temp = finished(tmp_path)
    with pytest.raises(DumpError, match="--overwrite"):
        publish(temp, final)
    assert (final / "mine.txt").read_text() == "old"
    assert temp.exists()


def test_overwrite_replaces_the_whole_folder(tmp_path: Path) -> None:
    final = tmp_path / "jax"
    final.mkdir()
    (final / "stale.txt").write_text("old")
    publish(finished(tmp_path), final, overwrite=True)
    assert [each.name for each in final.iterdir()] == ["sub"]
    assert [each.name for each in tmp_path.iterdir()] == ["jax"]


def test_interrupted_between_the_two_renames_puts_the_old_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    final = tmp_path / "jax"
    final.mkdir()
    (final / "old.txt").write_text("old")
    temp = finished(tmp_path)
    real = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if ".incoming-" in self.name:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(temp, final, overwrite=True)
    assert (final / "old.txt").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["jax"]


def test_places_that_are_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    inside = home / "project"
    inside.mkdir(parents=True)
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    file = tmp_path / "file"
    file.write_text("")
    link = tmp_path / "link"
    link.symlink_to(repository)
    monkeypatch.chdir(inside)
    for place in (home, repository, file, link):
        with pytest.raises(DumpError):
            check_free(place, overwrite=True)
    check_free(tmp_path / "nothing", overwrite=False)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(DumpError, match="cannot be moved"):
        publish(finished(tmp_path), closed / "jax")


def test_nothing_to_move(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match="no folder"):
        publish(tmp_path / "gone", tmp_path / "jax")
