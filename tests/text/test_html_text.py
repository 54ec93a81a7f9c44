"""The visible text of pages."""

from __future__ import annotations

import pytest

from firth.errors import FormatError
from firth.text.html_text import is_html, visible_text


@pytest.mark.parametrize(
    "page,text",
    [
        ("<p>Tea</p><p>Milk</p>", "Tea\nMilk"),
        ("<p>black\n   <b>te</b>a</p>", "black tea"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<table><tr><td>a<td>b</table>", "a\nb"),
        ("caf&eacute; &amp; &#x6cc;", "café & ی"),
        ("<pre>a  b\n  c</pre>", "a  b\nc"),
        ("a<!-- <p>comment</p> -->b", "ab"),
        ("<style>p { }</style><script>if (a < b) x('</p>')</script>tea", "tea"),
        ("<template><template>x</template>y</template>tea<title>t</title>", "tea"),
        ("5 < 6 cups", "5 < 6 cups"),
        ("", ""),
    ],
)
def test_text_is_what_a_reader_sees(page: str, text: str) -> None:
    assert visible_text(page) == text


@pytest.mark.parametrize("tag", ["noscript", "template", "svg"])
def test_an_element_that_would_hide_the_rest_is_an_error(tag: str) -> None:
    with pytest.raises(FormatError, match=rf"page\.html:2: the element <{tag}> has no end\. Add </{tag}>"):
        visible_text(f"<p>tea\n<{tag}> all of this", "page.html")


@pytest.mark.parametrize("declaration", ["<![DOCTY1PE html>", "<![[[[["])
def test_a_malformed_declaration_is_a_comment_or_an_error_with_its_line(declaration: str) -> None:
    try:  # newer versions of Python read it as a comment, as browsers do
        found = visible_text(f"<html>\n{declaration}<p>Tea")
    except FormatError as error:
        found = str(error)
    assert found in ("Tea", "page:2: a declaration that begins with <![ is malformed. Remove it")


def test_a_page_is_known_by_its_first_bytes() -> None:
    assert is_html(b"\xef\xbb\xbf\n<!DOCTYPE HTML PUBLIC>")
    assert is_html(b'<?xml version="1.0"?><!-- made -->\n<html lang="fa">')
    assert not is_html(b"A text about <html> and <!doctype html>")
    assert not is_html(b"<doc>a corpus in XML</doc>")
