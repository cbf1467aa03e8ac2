"""Predict, then reveal: a question on the reader's present numbers, answered before the page shows it."""

import streamlit as st

from attention.charts import exact
from pages.shared import controls

TOLERANCE = 0.02  # a guess by eye counts when it is this near, or within 2 %


def number(key, question, answer, because):
    """Ask for a number. `answer` was computed by the core; `because` (Markdown) is shown with it."""

    def field():
        return st.number_input("Your prediction", value=None, format="%.3f", key=f"{key}_guess", width=200)

    near = max(TOLERANCE, TOLERANCE * abs(answer))
    _ask(key, question, field, float(answer), lambda guess: abs(guess - answer) <= near, exact(answer), because)


def choice(key, question, options, answer, because):
    """Ask for one of `options` (Markdown, at least two); `answer`, one of them, follows from computed numbers."""

    def field():
        return st.radio("Your prediction", options, index=None, key=f"{key}_guess", label_visibility="collapsed")

    _ask(key, question, field, answer, lambda guess: guess == answer, answer, because)


def _ask(key, question, field, answer, right, shown, because):
    answers = controls.visible("answers", "The answers to the questions")
    if not controls.visible(key, f"Question: {question}"):
        return
    with st.container(border=True):
        st.markdown(f":material/quiz: **Predict.** {question}")
        with st.form(key, border=False):
            guess = field()
            if st.form_submit_button("Check"):
                # kept with the answer that it was checked against: new numbers make it a new question
                st.session_state[f"{key}_checked"] = (guess, answer)
        checked, against = st.session_state.get(f"{key}_checked", (None, None))
        if against != answer:
            return
        if checked is None:
            st.info("Predict something first, then check it.")
        elif not answers:
            (st.success if right(checked) else st.error)("Right." if right(checked) else "Not so. Think again.")
        elif right(checked):
            st.success(f"Right: {shown}. {because}")
        else:
            st.error(f"Not so: it is {shown}. {because}")
