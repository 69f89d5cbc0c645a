"""A driver that is killed while its workers compute features leaves neither workers nor memory."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

DRIVER = textwrap.dedent(
    """
    import os, time
    from pathlib import Path
    import numpy as np
    from datasets.features import store
    from datasets.features.families import Family

    def slow(images):
        Path(os.environ["STARTED"], str(os.getpid())).touch()
        time.sleep(120)

    families = tuple(Family(f"f{i}", "none", lambda shape: 1, slow) for i in range(4))
    images = {part: np.zeros((3_000, 32, 32), np.uint8) for part in store.PARTS}
    columns = store.columns_of("mnist", families, images, "digest")
    store.complete(columns, 2, False)
    """
)


def until(what, seconds):
    """Wait until `what()` holds; say whether it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_driver_takes_its_workers_along(tmp_path):
    started = tmp_path / "started"
    started.mkdir()
    environment = {**os.environ, "STARTED": str(started), "PYTHONPATH": os.getcwd()}
    environment["COST_AWARE_BOOSTING_CACHE"] = str(tmp_path / "cache")
    # Wherever the machine would have it: shared memory may be small, or there is none.
    shared = tmp_path / "shared"
    shared.mkdir()
    environment["JOBLIB_TEMP_FOLDER"] = str(shared)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    driver = subprocess.Popen([sys.executable, str(script)], env=environment)
    children, copies = [], []
    try:
        assert until(lambda: driver.poll() is not None or len(list(started.iterdir())) == 2, 100)
        children = psutil.Process(driver.pid).children(recursive=True)
        copies = list(shared.glob(f"joblib_memmapping_folder_{driver.pid}_*"))
        assert len(children) >= 2
        assert copies  # else this test would prove nothing
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    gone = until(lambda: not any(map(_runs, children)), 10)
    cleared = until(lambda: not any(path.exists() for path in copies), 10)
    for child in filter(_runs, children):
        child.kill()
    assert gone
    assert cleared


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
