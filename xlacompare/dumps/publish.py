"""A finished folder moved into its place in one step, so that nobody ever reads a half-written one."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from xlacompare.errors import DumpError


def check_free(final_dir: Path | str, *, overwrite: bool) -> None:
    """Raise if `publish` would refuse this place; to be asked before minutes of work, not after.

    Raises:
        DumpError: something is there and `overwrite` is false, or the place must never be replaced: a file, a link,
            a home, the working directory or one above it, the root of a git repository.
    """
    final_dir = Path(final_dir)
    if final_dir.is_symlink():
        raise DumpError(f"{final_dir} is a symbolic link; name the folder itself.")
    if not final_dir.exists():
        return
    if not final_dir.is_dir():
        raise DumpError(f"{final_dir} is a file; a dump needs a folder of its own.")
    if not any(final_dir.iterdir()):
        return
    if not overwrite:
        raise DumpError(f"{final_dir} already has something in it; pass --overwrite to replace it, or another --out.")
    resolved, here = final_dir.resolve(), Path.cwd().resolve()
    if resolved in (Path.home().resolve(), here, *here.parents) or (final_dir / ".git").exists():
        raise DumpError(f"{final_dir} is not a folder that may be replaced as a whole; pass another --out.")


def publish(temp_dir: Path | str, final_dir: Path | str, *, overwrite: bool = False) -> Path:
    """Move a finished folder to its place, and return the place.

    The folder first goes beside its place under a hidden name (a copy where that is another file system), then is
    renamed. What was there before is set aside first, put back if the renaming fails, and removed at the end.

    Raises:
        DumpError: as `check_free`, or `temp_dir` is no folder, or the system refuses the move.
    """
    temp_dir, final_dir = Path(temp_dir), Path(final_dir)
    if not temp_dir.is_dir():
        raise DumpError(f"{temp_dir} is no folder; there is nothing to move to {final_dir}.")
    check_free(final_dir, overwrite=overwrite)
    final_dir.parent.mkdir(parents=True, exist_ok=True)
    tag = uuid.uuid4().hex[:12]
    incoming = final_dir.with_name(f".{final_dir.name}.incoming-{tag}")
    outgoing = final_dir.with_name(f".{final_dir.name}.outgoing-{tag}")
    try:
        shutil.move(temp_dir, incoming)
        # mkdtemp makes folders that only their owner may open; a published dump is an ordinary folder.
        incoming.chmod(0o777 & ~_umask())
        if final_dir.exists():
            final_dir.rename(outgoing)
        incoming.rename(final_dir)
    except BaseException as error:
        if outgoing.exists() and not final_dir.exists():
            outgoing.rename(final_dir)
        shutil.rmtree(incoming, ignore_errors=True)
        if isinstance(error, OSError):
            raise DumpError(f"{temp_dir} cannot be moved to {final_dir}: {error}.") from error
        raise
    shutil.rmtree(outgoing, ignore_errors=True)
    return final_dir


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
