"""Types of the options of functions: dictionaries, whose keys are the keyword arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from kyokumen._report import Report

if sys.version_info >= (3, 11):
    from typing import Unpack as Unpack
else:
    try:
        from typing_extensions import Unpack as Unpack
    except ImportError:
        Unpack = Any

_Path: TypeAlias = str | os.PathLike[str]
_Paths: TypeAlias = _Path | Sequence[_Path]


class Filters(TypedDict, total=False):
    """Filters for records, as on the command line."""

    keep_untrained: bool
    every: int | None
    sample: float | None
    max_abs_eval: int | None
    min_abs_eval: int | None
    drop_contradictions: int | None
    min_ply: int | None
    max_ply: int | None
    min_game_plies: int | None
    max_game_plies: int | None
    result: str | None
    ending: str | None
    drop_ending: str | None
    has_move: bool
    drop_in_check: bool
    legal_move: bool
    quiet: bool
    drop_captures: bool
    drop_promotions: bool
    drop_checks: bool


class Reading(TypedDict, total=False):
    """Format and move encoding of the inputs."""

    from_: str | None
    dialect: Literal["apery", "yaneuraou", "rshogi"] | None


class OnError(TypedDict, total=False):
    """What to do with bad records."""

    on_error: Literal["stop", "skip", "quarantine"] | None


class Running(TypedDict, total=False):
    """Options that do not change the content of outputs. `progress` is a function to call with snapshots (`done`,
    `total`, `rate`, `eta_s`, …), a tqdm bar, or True to create a bar."""

    threads: int
    force: bool
    progress: Callable[[Report], object] | Any


class Search(TypedDict, total=False):
    """Limits of mate searches."""

    depth: int | None
    nodes: int | None
    hash_mb: int | None
    in_check: Literal["both", "and", "or", "skip"] | None
    when_hopeless: Literal["give-up", "go-on"] | None


class Sampled(Filters, total=False):
    """Filters for records, with the seed of `sample` and of the function."""

    seed: int | None


class LoaderOptions(Filters, Reading, Search, total=False):
    features: Literal["dlshogi", "halfkp", "halfka_hm", "records"]
    planes: Literal[57, 119]
    dtype: Literal["float32", "float16", "bits"]
    mirror: bool | Literal["random"]
    scale: float
    policy: bool
    sample_seed: int | None
    shuffle: bool
    seed: int
    segment: int
    window: int
    rank: int
    world_size: int
    drop_last: bool
    threads: int
    ahead: int | None
    on_error: Literal["stop", "skip"]
    exclude: _Paths | None
    drop_mated: bool
    spool: bool
    tmp_dir: _Path | None


class ConvertOptions(Sampled, Reading, OnError, Running, total=False):
    to: str | None
    fill: str | Mapping[str, object] | None
    dedup: bool
    memory: str | int | None
    eval_scale: str | None
    mirror: bool
    check: Literal["structure", "rules"] | None
    strict: bool
    canonical: bool
    family: Literal["apery", "yaneuraou"] | None
    encoding: Literal["utf-8", "shift_jis"] | None
    csa_version: Literal["2.2", "3.0"] | None
    make_games: str | None
    limit: int | None
    checksums: bool


class Rearranging(Sampled, Reading, OnError, Running, total=False):
    to: str | None
    memory: str | int | None


class RearrangeOptions(Rearranging, total=False):
    tmp_dir: _Path | None


class DedupOptions(RearrangeOptions, total=False):
    average: bool
    key: Literal["position", "position+move", "content", "bytes"] | None
    reference: _Paths | None


class SampleOptions(RearrangeOptions, total=False):
    count: int | None
    rate: float | None


class InterleaveOptions(RearrangeOptions, total=False):
    weights: str | Sequence[float] | None
    until: Literal["all", "first"] | None


class SplitOptions(Rearranging, total=False):
    parts: int | None
    size: str | int | None
    records: int | None
    by: Literal["round-robin", "ranges", "game", "position"] | None
    weights: str | Sequence[float] | None
    names: Sequence[str] | None
    name: str | None


class VerifyOptions(Reading, Running, total=False):
    manifest: _Paths | None
    proof: _Paths | None
    limit: int | None
    quarantine: _Path | None
    strict: bool


class StatsOptions(Sampled, Reading, Running, total=False):
    html: _Path | None
    lang: Literal["ja", "en"] | None
    limit: int | None
    memory: str | int | None


class RunOptions(Running, total=False):
    config: _Path | None
    dry_run: bool
    name: str | None
    shard: str | None
    limit: int | None
    resume: bool
    checkpoint_every: float | None
    metrics: _Path | None
    metrics_listen: str | int | None
    tmp_dir: _Path | None


class JobOptions(RunOptions, Sampled, Reading, OnError, total=False):
    """Options of runs over records."""


class FilterOptions(JobOptions, Search, total=False):
    retry_unknown: _Path | None
    to: str | None
    mated: Literal["split", "drop", "relabel"] | None
    unknown: Literal["keep", "drop", "split"] | None
    fill: str | Mapping[str, object] | None


class DatasetOptions(JobOptions, Search, total=False):
    to: Literal["parquet", "jsonl", "npz"] | None
    split: str | Sequence[float] | None
    tsume_plies: bool


class Devices(TypedDict, total=False):
    """The library and the devices for networks in ONNX files."""

    runtime: Literal["auto", "ort", "rten"] | None
    device: str | Sequence[str] | None
    fp16: bool
    ort_lib: _Path | None


class RelabelOptions(JobOptions, Devices, total=False):
    model: _Path | None
    playouts: int | None
    batch: int | None
    policy_temperature: float | None
    root_mate: str | Sequence[int] | None
    leaf_mate: str | Sequence[int] | None
    hash_mb: int | None
    engine: str | None
    nodes: int | None
    engine_option: str | Sequence[str] | Mapping[str, object] | None
    engine_timeout: float | None
    keep_eval: bool
    mix: float | None
    scale: float | None
    policy: bool
    to: str | None
    fill: str | Mapping[str, object] | None


class SelfPlayOptions(RunOptions, Devices, total=False):
    model: _Paths | None
    engine: str | Sequence[str] | None
    opponent_engine: str | None
    opponent_share: float | None
    nodes: int | None
    byoyomi: int | None
    multipv: int | None
    engine_option: str | Sequence[str] | Mapping[str, object] | None
    engine_timeout: float | None
    games: int
    openings: _Path | None
    openings_filter: bool
    forks: _Path | None
    fork_prob: float | None
    from_: str | None
    to: str | None
    seed: int | None
    batch: int | None
    groups: int | None
    cache_mb: int | None
    playouts: int | None
    puct: Literal["dlshogi", "parent-value", "dlshogi-2018"] | None
    c_init: float | None
    c_base: float | None
    c_init_root: float | None
    c_base_root: float | None
    fpu: float | None
    fpu_root: float | None
    noise: int | None
    dirichlet_concentration: float | None
    dirichlet_weight: float | None
    gumbel: int | None
    gumbel_visits: float | None
    gumbel_scale: float | None
    policy_temperature: float | None
    no_early_stop: bool
    extensions: int | None
    policy_moves: float | None
    policy_moves_temperature: float | None
    random_plies: int | None
    random_temperature: float | None
    random_temperature_drop: float | None
    random_cutoff: float | None
    random_cutoff_drop: float | None
    resign: float | None
    resign_playthrough: float | None
    cheap_search_prob: float | None
    cheap_search_visits: int | None
    reduce_visits_threshold: float | None
    reduce_visits_lookback: int | None
    reduced_visits_min: int | None
    reduced_visits_weight: float | None
    max_moves: int | None
    drop_max_moves: bool
    min_moves: int | None
    repetition: Literal["fourth", "dlshogi"] | None
    draw_value: float | None
    leaf_mate: str | Sequence[int] | None
    root_mate: str | Sequence[int] | None
    hash_mb: int | None


class GenerateOptions(TypedDict, total=False):
    count: int
    seed: int | None
    to: str | None
    every: int | None
    max_moves: int | None
    force: bool


class InspectOptions(Reading, Search, total=False):
    range: str | int | None
    sample: int | None
    seed: int | None
    hex: bool
    html: _Path | None
    force: bool
    solve: bool
    threads: int
    lang: Literal["ja", "en"] | None


class MergeOptions(TypedDict, total=False):
    to: str | None
    stream: str | None
    name: str | None
    force: bool
    progress: Callable[[Report], object] | Any
