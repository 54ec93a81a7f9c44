"""The explorer: pages in the browser that ask the library. `firth explore` starts it.

Needs the extra `web`. Nothing outside `explorer/` imports NiceGUI.
"""
