"""Claims, measured: each benchmark runs Monte-Carlo studies and compares them with its bars.

A new benchmark is one file or folder with a function ``run(seeds, progress) -> Benchmark`` and one
entry in `BENCHMARKS`.
"""

from __future__ import annotations

from prism_bench import (
    ambient,
    chain,
    decays,
    forced,
    kinds,
    mechanics,
    nonlinear,
    paper,
    records,
    setups,
)
from prism_bench.table import Benchmark, Row, Runner

BENCHMARKS: dict[str, Runner] = {
    "chain": chain.run,
    "paper": paper.run,
    "forced": forced.run,
    "records": records.run,
    "decays": decays.run,
    "driven": ambient.run,
    "nonlinear": nonlinear.run,
    "kinds": kinds.run,
    "mechanics": mechanics.run,
    "setups": setups.run,
}

__all__ = ["BENCHMARKS", "Benchmark", "Row", "Runner"]
