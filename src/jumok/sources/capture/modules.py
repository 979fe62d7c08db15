"""Which module is running: its name, and which time it runs, from hooks that are gone when the watching ends."""

from __future__ import annotations

from typing import Any

__all__ = ["Modules"]


class Modules:
    """The modules that are running now, outermost first. Use as a context manager, one thread's own."""

    def __init__(self, root: Any = None) -> None:
        self.names: dict[int, str] = {} if root is None else _names(root)
        self.running: list[Any] = []
        self.parameters: set[int] = set() if root is None else _storages(root)
        self.passes = 0  # how often an outermost module was called
        self.elsewhere = False  # True where a module ran in another thread, which is not watched
        self._hooks: list[Any] = []
        self._thread: int | None = None

    def __enter__(self) -> Modules:
        import threading

        from torch.nn.modules import module

        self._thread = threading.get_ident()
        self._hooks = [
            module.register_module_forward_pre_hook(self._enter),
            module.register_module_forward_hook(self._leave, always_call=True),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _enter(self, module: Any, _: Any) -> None:
        if not self._mine():
            self.elsewhere = True
            return
        if not self.running:
            self.passes += 1
            if id(module) not in self.names:
                self.names |= _names(module)
                self.parameters |= _storages(module)
        self.running.append(module)

    def _leave(self, module: Any, _: Any, __: Any) -> None:
        if self._mine() and module in self.running[-1:]:
            self.running.pop()

    def _mine(self) -> bool:
        import threading

        return threading.get_ident() == self._thread

    def is_parameter(self, tensor: Any) -> bool:
        """True for a parameter of the program, or a view of one."""
        return tensor.untyped_storage().data_ptr() in self.parameters

    @property
    def name(self) -> str:
        """The innermost running module, "" where none runs."""
        return self.names.get(id(self.running[-1]), type(self.running[-1]).__name__) if self.running else ""


def _storages(root: Any) -> set[int]:
    return {parameter.untyped_storage().data_ptr() for parameter in root.parameters()}


def _names(root: Any) -> dict[int, str]:
    return {id(module): name for name, module in root.named_modules()}
