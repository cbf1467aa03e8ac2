"""Widgets whose value stands in the address, and that a teacher can hide.

Each returns a plain, valid value whatever the address says. A page opened with `?hide=a,b` does not draw the
controls a and b: their values come from the rest of the address, checked like any other.
"""

from functools import partial
from math import isinf
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st

MAX_TEXT = 2000  # characters read from a text; longer ones come from an address only
MAX_TOKEN = 60


def begin(page):
    """Start a page: as the reader left it, or as the address says, without what a teacher's link hides."""
    left, st.session_state["page"] = st.session_state.get("page", page), page
    # a run that another one interrupted has drawn a part of the controls: the others are as in the run before
    drawn = st.session_state.get("drawn", {}) | st.session_state.get("controls", {})
    st.session_state["drawn"] = drawn
    st.session_state["controls"] = {}  # key -> (label, value and default as the address has them, value)
    if left != page:
        _come_back(left, page)
    opened = st.session_state.setdefault("opened_with", {})
    if "hide" in st.query_params:
        opened[page] = st.query_params.to_dict()
    run = st.session_state["run"] = st.session_state.get("run", 0) + 1
    st.session_state["put"] = {key: put for key, put in _puts().items() if put.run == run - 1}
    st.session_state["fixed"] = opened.get(page, {})


def end():
    """End a page: what stands there now is all of it."""
    st.session_state["drawn"] = {}


def _come_back(left, page):
    """Put the controls of `page` as they were in place of those of the page just `left`.

    Streamlit keeps what was moved, under keys that pages share, and forgets what only the address said: of a
    page left and found again, as by the browser's Back, neither must be seen.
    """
    memory = st.session_state.setdefault("memory", {})
    memory[left] = gone = st.session_state["drawn"]
    st.session_state["drawn"] = here = {} if st.query_params else memory.get(page, {})
    for key in gone.keys() - {"large"}:
        st.session_state.pop(key, None)
    if not st.query_params:
        values = {key: value for key, (*_, value) in here.items() if value is not None}
        large = gone["large"][-1] if "large" in gone else False
        st.session_state.update(values | {"large": large})
        st.query_params.from_dict(_address(here))
        st.rerun()  # in the run of a browser's Back, an address without a value would win over it


def hidden(key):
    return key in st.session_state["fixed"].get("hide", "").split(",")


def visible(key, label):
    """Whether something that is no control (a matrix, the answers) is shown; a teacher may hide it too."""
    st.session_state["controls"][key] = (label, None, None, None)
    return not hidden(key)


def slider(label, low, high, default, *, key, step=None, **options):
    options |= {"min_value": low, "max_value": high, "value": default, "step": step}
    return _ask(st.slider, label, key, default, _number(low, high, default), **options)


def number(label, low, high, default, *, key, **options):
    """A number from `low` to `high`, an integer where `default` is one."""
    if key in st.session_state:  # the limits may have moved since it was set
        st.session_state[key] = min(max(st.session_state[key], low), high)
    options |= {"min_value": low, "max_value": high, "value": default}
    return _ask(st.number_input, label, key, default, _number(low, high, default), **options)


def switch(label, default=False, *, key, **options):
    read = {"true": True, "false": False}.get
    return _ask(st.toggle, label, key, default, read, value=default, **options)


def button(label, *, key, **options):
    """Whether a button was pressed: that stands in the address too, and it is drawn only until it is."""
    if hidden(key):
        return st.session_state["fixed"].get(key) == "true"
    pressed = st.query_params.get(key) == "true"
    st.session_state["controls"][key] = (label, pressed, False, pressed)
    if not pressed:
        press = partial(st.query_params.update, {key: "true"})
        st.button(label, key=f"{key}_button", on_click=press, **options)
    return pressed


def choice(label, options, *, key, widget=st.segmented_control, names=None, default=None, **more):
    """One of `options`, the first or the `default`; `names` are what readers, and the address, see of them.

    With `widget=st.selectbox` for long lists, `widget=st.select_slider` for positions along one.
    """
    options = list(options)
    default = options[0] if default is None else default
    if key in st.session_state and st.session_state[key] not in options:  # they may depend on another control
        del st.session_state[key]
    first = {
        st.selectbox: {"index": options.index(default)},
        st.select_slider: {"value": default},
    }.get(widget, {"default": default, "required": True})
    if names:
        more["format_func"] = lambda option: names[option]
    by_name = {names[option] if names else option: option for option in options}
    return _ask(widget, label, key, default, by_name.get, options=options, **first, **more)


def text(label, default, *, key, widget=st.text_input, **options):
    value = _ask(widget, label, key, default, str, value=default, **options)
    if len(value) > MAX_TEXT:
        st.warning(f"Only the first {MAX_TEXT:,} of {len(value):,} characters are read.", icon=":material/info:")
    return value[:MAX_TEXT]


def words(label, default, *, key, most, **options):
    """The reader's words as tokens, 1 to `most`; what had to be changed is said below the field."""
    tokens, notes = tokenise(text(label, default, key=key, **options), default, most)
    for note in notes:
        st.warning(note, icon=":material/info:")
    return tokens


def tokenise(written, default, most):
    """(tokens, notes): the words of a text, at most `most` of at most MAX_TOKEN characters; `default`'s if none.

    Characters that cannot be printed are left out.
    """
    tokens = ["".join(filter(str.isprintable, word)) for word in written.split()]
    tokens, notes = [token for token in tokens if token], []
    if not tokens:
        tokens = default.split()
        notes.append(f"There is no word in it, so the example stands in. Write 1 to {most} words.")
    if len(tokens) > most:
        notes.append(f"These are {len(tokens):,} words: the first {most} are used.")
    if any(len(token) > MAX_TOKEN for token in tokens[:most]):
        notes.append(f"Words of more than {MAX_TOKEN} characters are cut there.")
    return [token[:MAX_TOKEN] for token in tokens[:most]], notes


# --- callbacks --------------------------------------------------------------------------------------------


class _Put(NamedTuple):
    before: tuple  # what the browser may still take the control's value for
    after: Any
    run: int  # the last one whose page it was put on


def put(**values):
    """Set controls, from a callback. One that is new on the page asks the address first, so it says so too."""
    _catch_up()
    puts, run = _puts(), st.session_state["run"]
    for key, value in values.items():
        before = (*(puts[key].before if key in puts else ()), st.session_state.get(key))
        if key not in st.session_state:
            st.query_params[key] = value
        st.session_state[key] = value
        puts[key] = _Put(before, value, run)


def now(key):
    """The value of a control, for a callback; None where it is not on the page."""
    _catch_up()
    return st.session_state.get(key)


def _catch_up():
    """Put again what the last callback put, if the browser had not heard of it when it sent the next click.

    With every click Streamlit's browser side sends the values of all widgets as it knows them, and the server
    takes them. So the second of two quick clicks would undo the first.
    """
    puts, run = _puts(), st.session_state["run"]
    for key, (before, after, _) in list(puts.items()):
        if st.session_state.get(key) in before:
            st.session_state[key] = after
            puts[key] = _Put(before, after, run)
        elif st.session_state.get(key) != after:
            del puts[key]


def _puts():
    return st.session_state.setdefault("put", {})


def _ask(widget, label, key, default, read, /, **options):
    if hidden(key):
        value = read(st.session_state["fixed"].get(key, ""))
        return default if value is None else value
    value = widget(label, key=key, **_bound(key, default), **options)
    value = default if value is None else value
    names = options.get("format_func", lambda option: option)
    st.session_state["controls"][key] = (label, names(value), names(default), value)
    return value


def _bound(key, default):
    """What ties a widget to the address; nothing where that says infinity for a whole number.

    Streamlit 1.67 converts such an address without a guard, and the page would end in an OverflowError.
    """
    unusable = st.session_state.setdefault("unusable", set())
    if type(default) is int and _infinite(st.query_params.get(key, "")):
        unusable.add(key)
    return {} if key in unusable else {"bind": "query-params"}


def _infinite(written):
    try:
        return isinf(float(written))
    except ValueError:
        return False


def _number(low, high, default):
    def read(written):
        try:
            value = type(default)(written)
        except ValueError:  # of int("inf") too
            return None
        return value if low <= value <= high else None  # NaN is not

    return read


# --- sharing ----------------------------------------------------------------------------------------------


def share():
    """The address that opens this page as it is, and the choice of what it hides."""
    controls, fixed = st.session_state["controls"], st.session_state["fixed"]
    st.markdown("This link opens the page as you see it, for everybody who follows it.")
    hide = st.multiselect(
        "Hide from whoever opens the link",
        list(controls),
        format_func=lambda key: controls[key][0],
        key="share_hide",
        help="For a class: a hidden control keeps its present value, a hidden matrix or answer is left out.",
    )
    state = _address(controls)
    state = {key: value for key, value in fixed.items() if hidden(key)} | state
    hide = [*filter(None, fixed.get("hide", "").split(",")), *hide]
    address = urlsplit(st.context.url or "")._replace(
        query=urlencode(state | ({"hide": ",".join(hide)} if hide else {}))
    )
    st.code(address.geturl() or "?" + address.query, language=None, wrap_lines=True)
    if fixed.get("hide"):
        st.button("Show what is hidden here", on_click=_show_all, key="show_all")


def _show_all():
    for key in st.session_state["fixed"]:
        if key in st.query_params:
            del st.query_params[key]
    st.session_state["opened_with"].clear()


def _address(controls):
    """What an address says of `controls`: the values that are no defaults."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, (_, value, default, _) in controls.items()
        if value != default
    }
