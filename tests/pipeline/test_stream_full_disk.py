"""A disk that is really full: what is published stays whole, and with space again it goes on."""

import subprocess
from pathlib import Path

import pytest

from boolcast.errors import OutputError
from boolcast.pipeline import read_batches
from tests.pipeline.streams import Scene, event

FILE_EVENTS = 20_000
FILES = 6


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte; it grows when called."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> int:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
        return subprocess.run(command, capture_output=True, check=False).returncode

    if mount("size=1m"):
        pytest.skip("mounting a small file system is not permitted here")

    def grow() -> None:
        assert mount("remount,size=64m") == 0

    yield folder, grow
    # Spark may still hold a file of it.
    subprocess.run(["umount", "--lazy", folder], check=True)


def leave_free(folder: Path, size: int) -> None:
    """Fill the disk up to so many bytes."""
    (folder / "ballast").write_bytes(b"")
    free = int(subprocess.check_output(["stat", "-f", "-c", "%a", folder]))
    block = int(subprocess.check_output(["stat", "-f", "-c", "%S", folder]))
    (folder / "ballast").write_bytes(bytes(max(free * block - size, 0)))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("with_checkpoint", [False, True])
@pytest.mark.parametrize("free", [300_000, 40_000, 8_192, 4_096])
def test_a_full_disk(spark, tmp_path, small_disk, free, with_checkpoint):
    disk, grow = small_disk
    scene = Scene(tmp_path)
    scene.output = disk / "output"
    if with_checkpoint:
        scene.checkpoint = disk / "checkpoint"
    scene.save(cheap="price < 10")
    leave_free(disk, free)
    for number in range(FILES):
        first = number * FILE_EVENTS
        scene.put(f"{number}", map(event, range(first, first + FILE_EVENTS)))
    with pytest.raises(OutputError, match="No space left on device"):
        scene.run(spark)
    done = len(list(read_batches(scene.output)))
    assert done < FILES
    scene.verify(scene.rows(), range(done * FILE_EVENTS))
    grow()
    scene.run(spark)
    scene.verify(scene.rows(), range(FILES * FILE_EVENTS))
