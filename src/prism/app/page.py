"""The page: the server runs this script from top to bottom at every click."""

from __future__ import annotations

import streamlit as st

from prism.app.play_tab import play_tab
from prism.app.record_tab import record_tab
from prism.app.words import STYLE

__all__ = ["page"]


def page() -> None:
    """Lay the page out."""
    st.set_page_config(page_title="PRISM", page_icon="◭", layout="wide")
    st.html(STYLE)
    st.title("PRISM")
    st.markdown(
        "From the motion of a few points to the system behind them: its modes, what is hidden, "
        "how it goes on, and what the data cannot tell."
    )
    yours, play = st.tabs(["Your record", "Play with a system"])
    with yours:
        record_tab()
    with play:
        play_tab()


if __name__ == "__main__":
    page()
