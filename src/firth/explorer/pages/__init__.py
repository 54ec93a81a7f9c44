"""The pages of the explorer, one file each.

To add a page:

1. Write `pages/NAME.py` with `async def show(visit: Visit) -> None`. It runs inside the frame when the browser is
   connected, and draws with NiceGUI and `widgets.py`. It may take long: the frame shows that it works. A `FirthError`
   that it raises becomes the error state of the page.
2. Add a `PageEntry` to `PAGES` in `registry.py`, and its texts to `translations.py`: the title under the key NAME, one
   sentence under NAME-about. `visit.t(key)` gives a text in the visitor's language.
3. State lives in the address. `visit.get("word", "tea")` reads it, `visit.remember(word="tea")` writes it. Links to
   other states are real links: `make_address("/neighbors", {"word": "tea"})`. A link with `data_merge=True` changes
   only the values that it names.
4. A page asks the library and computes nothing itself. `await visit.ask(Question(model, method, arguments, options))`
   gives the answer, and `python_line(visit, question.python())` shows the line that gives the same numbers. What takes
   more than one call is a function apart from the page, in `answers/`, called by `await visit.compute(function, …)`.
   Never block the event loop.
5. What changes after a click is drawn in a `Panel`: `await panel.fill(build)`. `build` computes, then draws. Errors and
   superseded answers are the panel's affair.
6. Text is shown by `html(tag(…))`, which escapes it. Words of the user have `dir="auto"`, code and numbers `dir="ltr"`.
   CSS is logical (`inline-size`, `margin-inline-start`) and uses the colors of `static/theme.css`, which has light and
   dark. There is no Tailwind. Every file in `static/` is served at `/static/`.
7. Binary data for a component goes through `ROUTES` in `registry.py`, never through the socket, whose messages are
   limited to a megabyte.
8. Browser tests are in `tests/explorer/pages/test_NAME.py` and use the fixtures of `tests/explorer/conftest.py`.
"""
