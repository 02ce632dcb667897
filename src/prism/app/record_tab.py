"""The tab of the user's own record: drop, recognise, choose, identify, explore."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

import prism
from prism.app import _limits as limits
from prism.app import results, upload
from prism.app.experiment import ask_experiment, ask_losses, ask_options
from prism.app.jobs import STOPPED, Job
from prism.app.layout import ask_channels, ask_quantity, ask_times
from prism.app.server import MOST_MEGABYTES
from prism.app.upload import Reading, Upload
from prism.app.words import html_pairs, plain, spoken
from prism.errors import PrismError
from prism.frequency_response import FrequencyResponse
from prism.options import find
from prism.record import QUANTITIES, Record
from prism.remarks import Words
from prism.report.contents import about_data, about_response, band

__all__ = ["record_tab"]

_KINDS = ("a record over time", "a response over frequency")
_AS_STATED = "as the file says"
_NAMED = (".npz", ".mat", ".h5", ".hdf5")  # files that name their arrays


@dataclass(frozen=True)
class PageQuestion:
    """What is to be identified.

    Attributes
    ----------
    reading : Reading
    options : dict
        Of `prism.identify`.
    title : str
        Of the files.
    key : str
        Differs where the question differs.
    """

    reading: Reading
    options: dict[str, Any]
    title: str
    key: str


@dataclass(frozen=True)
class Failure:
    """Why a question has no answer.

    Attributes
    ----------
    sentence : Words or str
    asked : str
        Key of the question.
    """

    sentence: Words | str
    asked: str


def record_tab() -> None:
    """Show the tab."""
    question = None
    try:
        files = _ask_files()
        if files is not None:
            question = _ask(files)
    except PrismError as error:
        st.error(spoken(error))
    if question is not None:
        _identify(question)
    answer = st.session_state.get("answer")
    if answer is not None and question is not None:
        _show(answer, question)


def _ask_files() -> Upload | None:
    dropped = st.file_uploader(
        "Drop your measurement here: what some points of a vibrating system did over time, or "
        "their response over frequency",
        accept_multiple_files=True,
        key="files",
    )
    st.caption(
        "Text tables (csv, tsv, txt), npy, npz, mat, HDF5, parquet or universal files (uff). "
        "Several files are trials of one experiment. Nothing leaves this machine. Files above "
        f"{MOST_MEGABYTES} MB: use the command line, `prism identify FILE`."
    )
    if dropped:
        st.session_state.pop("example", None)
        return upload.collect(dropped)
    if st.button("No file at hand? Try an example", key="try"):
        st.session_state["example"] = upload.example()
    given: Upload | None = st.session_state.get("example")
    return given


def _ask(files: Upload) -> PageQuestion | None:
    """Show what was recognised and ask for the rest; None until all is said."""
    st.subheader(plain(files.title), divider="gray")
    seen, choices = st.columns([3, 2], gap="large")
    with choices:
        st.markdown("**How to read it**")
        is_response = _ask_kind(files)
        read = _ask_response if is_response else _ask_record
        question = read(files, seen)
    if question is not None:
        for note in question.reading.notes:
            st.warning(spoken(note))
    return question


def _ask_kind(files: Upload) -> bool:
    chosen = st.radio(
        "The file holds",
        _KINDS,
        index=int(upload.holds_response(files)),
        horizontal=True,
        key=f"kind {files.key}",
    )
    return bool(chosen == _KINDS[1])


def _ask_record(files: Upload, seen: Any) -> PageQuestion | None:
    times = ask_times(files, _ask_array(files))
    with seen:
        st.markdown("**What was recognised**")
        st.html(html_pairs(about_data(times.seen)))
        more = len(files.files) - 1
        if more:
            st.caption(f"The first of {more + 1} files; the others are read like it.")
    channels = ask_channels(files, times)
    if not channels:
        st.info("Choose at least one channel.")
        return None
    with seen:
        experiment = ask_experiment(files.key, channels)
    motions = [name for name in channels if name not in experiment.force]
    if experiment.kind == "forced" and not (experiment.force and motions):
        st.info("Say which channels are forces, and leave at least one motion.")
        return None
    layout = ask_quantity(files, times, channels, motions)
    with st.expander("More options"):
        options = ask_options(files.key, experiment.kind, len(channels))
    if not times.known or layout is None:
        st.info("Give the time between two samples." if layout else "Say what was measured.")
        return None
    reading = upload.read_record(files, layout)
    assert isinstance(reading.data, Record)
    with seen:
        st.caption(f"{band(reading.data)}.")
    return _question(files, reading, {**experiment.options, **options}, layout)


def _ask_array(files: Upload) -> str | None:
    """Name the array with the values, where the file cannot be described without."""
    if os.path.splitext(files.files[0][0])[1].lower() not in _NAMED:
        return None
    try:
        upload.describe(files)
    except PrismError:
        name = st.text_input(
            find("array").label,
            placeholder="its name, as the message below lists it",
            key=f"array name {files.key}",
        )
        if not name:
            raise
        return str(name)
    return None


def _ask_response(files: Upload, seen: Any) -> PageQuestion | None:
    quantity = st.selectbox(
        "What was measured, per force",
        [_AS_STATED, *QUANTITIES],
        key=f"quantity {files.key}",
        help="Receptance is displacement, mobility velocity, accelerance acceleration per force.",
    )
    unit = _ask_unit(files.key)
    damped = ask_losses(files.key)
    names = _ask_names(files)
    stated = None if quantity == _AS_STATED else str(quantity)
    reading = upload.read_response(files, quantity=stated, unit=unit, **names)
    assert isinstance(reading.data, FrequencyResponse)
    with seen:
        st.markdown("**What was recognised**")
        st.html(html_pairs(about_response(files.files[0][0], reading.data)))
    return _question(files, reading, {"damped": damped}, (stated, unit, tuple(names.items())))


def _ask_names(files: Upload) -> dict[str, str | None]:
    """Names of the arrays of a response, in files that have some."""
    if os.path.splitext(files.files[0][0])[1].lower() not in _NAMED:
        return {}
    with st.expander("Names of the arrays"):
        asked = {
            name: st.text_input(find(name).label, key=f"{name} {files.key}")
            for name in ("frequency", "response")
        }
    return {name: str(text) or None for name, text in asked.items()}


def _ask_unit(key: str) -> str | None:
    option = find("unit")
    units = {_AS_STATED: None, **{choice.label: str(choice.value) for choice in option.choices}}
    return units[st.selectbox(option.label, list(units), key=f"unit {key}")]


def _question(
    files: Upload, reading: Reading, options: dict[str, Any], layout: Any
) -> PageQuestion:
    return PageQuestion(reading, options, files.title, f"{files.key} {layout} {options}")


# -- the work, and the answer ---------------------------------------------------------------------


def _identify(question: PageQuestion) -> None:
    job: Job[results.Answer] | None = st.session_state.get("job")
    running = job is not None and job.running
    if st.button("Identify", type="primary", disabled=running, key="identify"):
        if job is not None:
            job.stop()
        st.session_state.pop("answer", None)
        st.session_state["asked"] = question.key
        st.session_state["job"] = Job(_work(question))
    if "job" in st.session_state:
        _watch()


def _work(question: PageQuestion) -> Callable[[Callable[[str], None]], results.Answer]:
    def work(say: Callable[[str], None]) -> results.Answer:
        start = time.monotonic()
        data = question.reading.data
        model = prism.identify(data, progress=say, **question.options)
        seconds = time.monotonic() - start
        return results.Answer.of(model, data, question.title, question.key, seconds)

    return work


def _look() -> None:
    """Say how far the work is; when it is done, let the page show the answer."""
    job: Job[results.Answer] | None = st.session_state.get("job")
    if job is None:
        return
    job.wait(limits.POLL_SECONDS / 2)  # short work is done without another round
    stopped = job.running and st.button("Stop", key="stop")
    if job.running and not stopped:
        said = plain(job.said or "searching")
        box = st.status(f"At work for {job.seconds:.0f} s: {said}", state="running")
        box.caption("The rest of the page can be used meanwhile.")
        return
    if stopped:
        job.stop()  # it ends at its next step; nobody waits for that
    failure = Failure(job.error or STOPPED, st.session_state["asked"])
    st.session_state["answer"] = failure if job.result is None else job.result
    del st.session_state["job"]
    st.rerun()


_watch = st.fragment(_look, run_every=limits.POLL_SECONDS)


def _show(answer: results.Answer | Failure, question: PageQuestion) -> None:
    if answer.asked != question.key:
        st.info("The choices have changed: press Identify for a new answer.")
        return
    if isinstance(answer, Failure):
        st.error(spoken(answer.sentence))
        return
    st.header("What it shows", divider="gray")
    results.show(answer)
