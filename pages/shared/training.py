"""Runs of the learning lab: trained once, shared by all visitors, waited for by none; what became of one."""

import streamlit as st

from attention import learning

RUNS = 64  # kept, of at most 0.3 MB each


@st.cache_resource(show_spinner=False)
def finished():
    """Settings -> the Moments of their run: one dict for all visitors, whose single operations are atomic."""
    return {}


def trained(settings):
    """Every Moment of a run, with its progress shown while it is computed.

    Not in `st.cache_data`, where the second who asks waits for the first, and sees no progress: here each trains
    for themselves, and stops as soon as somebody else's run of the same settings is there.
    """
    runs = finished()
    if known := runs.get(settings):
        return known
    progress, moments = st.progress(0.0), []
    for moment in learning.train(settings):
        if known := runs.get(settings):
            break
        moments.append(moment)
        progress.progress(moment.step / settings.steps, f"Step {moment.step}: accuracy {moment.accuracy:.0%}")
    progress.empty()
    if known:
        return known
    runs[settings] = moments
    for old in list(runs)[:-RUNS]:
        runs.pop(old, None)
    return moments


def not_learnt(moments, settings):
    """What the numbers of a run that did not learn say about why, as Markdown."""
    before, last, late = moments[0], moments[-1], moments[-len(moments) // 4]
    match learning.verdict(moments):
        case "overshot":
            worst = max(moments, key=lambda m: m.loss)
            return (
                f"**It overshot**: the loss was {before.loss:.2f} before training and {worst.loss:.2f} at step "
                f"{worst.step}. Its steps go too far. Try a smaller learning rate."
            )
        case "falling":
            return (
                f"**It is still learning**: the loss is {last.loss:.2f}, and was {late.loss:.2f} at step {late.step}. "
                "Try a larger learning rate."
            )
    stuck = f"**It is stuck**: the loss was {late.loss:.2f} at step {late.step} and is {last.loss:.2f} now. "
    if settings.dimension == 1:
        return stuck + (
            "In one dimension a score is a product of two numbers, so a query can only prefer the largest key or the "
            "smallest."
        )
    movable = learning.mean_jacobian_norm(before.parameters, learning.held_out(settings), settings.scaled)
    return stuck + (
        f"Before training, the softmax Jacobian had a mean norm of {movable:.3f}, of ½ at most: where it is small, "
        "weights hardly move."
    )
