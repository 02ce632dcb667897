"""What was weighed, in words and in files."""

import pytest

from prism.evidence import UNWEIGHED, Evidence, Rival

STEADY = Rival("steady", "steady lines", 4, 0.0)
DECAY = Rival("decaying", "a free decay", 4, 35.0)


@pytest.mark.parametrize(
    ("evidence", "kind", "said"),
    [
        (Evidence((STEADY,)), "steady", "steady lines; no test speaks against it"),
        (
            Evidence((STEADY, DECAY)),
            "steady",
            "steady lines; next best: a free decay, behind by 35 in twice the log-likelihood",
        ),
        (
            Evidence((STEADY, Rival("decaying", "a free decay", 4, 3.0))),
            "steady",
            "steady lines; not ruled out: a free decay (behind by 3 in twice the log-likelihood)",
        ),
        (
            Evidence((STEADY, DECAY)),
            "decaying",
            "a free decay, as asked; the data speak for another kind: steady lines, by 35 in "
            "twice the log-likelihood",
        ),
        (UNWEIGHED, "forced", ""),
    ],
)
def test_the_sentence_says_how_sure_it_is(evidence, kind, said):
    assert evidence.sentence(kind) == said


def test_lead_and_close_calls():
    assert Evidence((STEADY,)).margin is None
    assert Evidence((STEADY, DECAY)).margin == 35.0
    assert Evidence((STEADY, DECAY)).close == ()
    near = Rival("driven", "motion driven by unmeasured noise", 3, 9.0)
    assert Evidence((STEADY, near, DECAY)).close == (near,)


def test_files_keep_it():
    whole = Evidence((STEADY, DECAY), 0.25, ("lines decay by a first test",))
    assert Evidence.from_json(whole.to_json()) == whole
