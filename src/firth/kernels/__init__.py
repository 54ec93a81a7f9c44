"""Hot loops on arrays: numba on the CPU, CUDA and Triton on GPUs.

`from firth.kernels import words` does not run words.py yet: it runs, and imports numba, when a kernel is first used. So
commands that only read a file do not wait for a compiler.
"""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from sys import modules
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from firth.kernels.cache_folder import set_cache_folder

set_cache_folder()

LOCK = RLock()
LOADING: set[str] = set()
OF_THE_IMPORT = frozenset({"__spec__", "__class__", "__name__", "__loader__", "__package__", "__file__", "__path__"})
OF_THE_IMPORT |= {"__wrapped__"}  # `inspect` asks everything that it lists for it


class LazyModule(ModuleType):
    """A module that runs when one of its attributes is first used, in whichever thread that is."""

    def __getattribute__(self, name: str) -> Any:
        if name in OF_THE_IMPORT:
            return ModuleType.__getattribute__(self, name)
        with LOCK:
            spec: ModuleSpec = ModuleType.__getattribute__(self, "__spec__")
            if type(self) is LazyModule and spec.name not in LOADING and spec.loader is not None:
                LOADING.add(spec.name)
                try:
                    spec.loader.exec_module(self)
                finally:
                    LOADING.discard(spec.name)
                self.__class__ = ModuleType  # type: ignore[assignment]
        return ModuleType.__getattribute__(self, name)


if not TYPE_CHECKING:  # type checkers find the files

    def __getattr__(name: str) -> ModuleType:
        """The module of kernels of this name, which has not run yet."""
        place = f"{__name__}.{name}"
        spec = None if name.startswith("_") else find_spec(place)
        if spec is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with LOCK:
            if place not in modules:
                module = module_from_spec(spec)
                module.__class__ = LazyModule
                modules[place] = module
            globals()[name] = modules[place]
        return modules[place]
