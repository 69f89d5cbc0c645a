"""Results are those of AVX2, on processors with AVX-512 too."""

import os
import subprocess
import sys

from experiments import instructions


def test_only_where_there_is_avx512(tmp_path, monkeypatch):
    for name in instructions.AS_ON_AVX2:
        monkeypatch.delenv(name, raising=False)
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu avx2 bmi2\n")
    assert not instructions.compute_as_on_avx2(cpuinfo)
    assert not instructions.compute_as_on_avx2(tmp_path / "absent")
    assert not set(instructions.AS_ON_AVX2) & set(os.environ)

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    cpuinfo.write_text("flags\t\t: fpu avx2 avx512f\nmodel name\t: any\n")
    assert instructions.compute_as_on_avx2(cpuinfo)
    assert os.environ["OPENBLAS_CORETYPE"] == "Zen"  # the user's
    disabled = instructions.AS_ON_AVX2["NPY_DISABLE_CPU_FEATURES"]
    assert os.environ["NPY_DISABLE_CPU_FEATURES"] == disabled


def test_the_driver_computes_without_avx512():
    """In a fresh process: nothing that the package imports loads NumPy before it is told."""
    code = "from experiments.running.provenance import processor; print(processor())"
    environment = {n: v for n, v in os.environ.items() if n not in instructions.AS_ON_AVX2}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "AVX512" not in said.stdout
