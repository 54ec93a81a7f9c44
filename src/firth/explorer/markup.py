"""HTML from values: text is escaped, tags are not."""

from __future__ import annotations

from html import escape


class Markup(str):
    """HTML that is safe to show.

    >>> join(Markup("<b>tea</b>"), "<b>")
    '<b>tea</b>&lt;b&gt;'
    """

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """An element. A trailing underscore is removed from the names of attributes, other underscores become hyphens.

    An attribute that is None or False is left out, one that is True has no value.

    >>> tag("b", "1 < 2", tag("i", "so"), class_="word", aria_label='"quoted"', hidden=True, id=None)
    '<b class="word" aria-label="&quot;quoted&quot;" hidden>1 &lt; 2<i>so</i></b>'
    """
    parts = [name]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(attribute)
        elif value is not None and value is not False:
            parts.append(f'{attribute}="{escape(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    if name in VOID:
        return Markup(opened)
    return Markup(f"{opened}{join(*children)}</{name}>")


VOID = frozenset(("br", "hr", "img", "input", "meta"))


def join(*children: object) -> Markup:
    """Children one after another, escaped unless they are markup.

    >>> join("a & b", tag("br"))
    'a &amp; b<br>'
    """
    return Markup("".join(one if isinstance(one, Markup) else escape(str(one)) for one in children))
