"""Where web and mail addresses and tags end."""

from __future__ import annotations

from firth.kernels import addresses
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points


def test_addresses_end_before_the_punctuation_around_them():
    classes = character_classes()
    for text, size in (("http://a.b/c).", 12), ("http://a.b/(c)", 14), ("www.x.org,", 9), ("ftp://x", 7)):
        codes = code_points(text)
        assert addresses.is_web(codes, classes, 0, len(codes))
        assert addresses.web_end(codes, classes, 0, len(codes)) == size
    for text, size in (("a@b.c.", 5), ("a@b", 0), ("a.b-c+d@e-f.org", 15), ("@b.c", 0)):
        codes = code_points(text)
        assert addresses.mail_end(codes, classes, 0, len(codes)) == size


def test_a_tag_is_letters_in_angle_brackets():
    for text, size in (("<unk>", 5), ("</s>", 4), ("<br>x", 4), ("<>", 0), ("<3", 0), ("<a b>", 0), ("<a", 0)):
        assert addresses.tag_end(code_points(text), 0, len(text)) == size
