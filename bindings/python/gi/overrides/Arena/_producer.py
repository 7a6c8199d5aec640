# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values into units, and the whole of a worker."""
import contextlib
import traceback

from gi.module import get_introspection_module
from gi.repository import GLib

from ._classes import Unconstructible, introspected, override
from ._errors import ClosedError
from ._wait import wait

Arena = get_introspection_module('Arena')
_send_packed = Arena.Producer.send_packed  # as C has it


def _text(text):
    """As C has it: without the surrogates of undecodable file names, and with no end in the middle."""
    return text.encode('utf-8', 'backslashreplace').decode().replace('\0', '\\0') if isinstance(text, str) else text


@override
class Producer(Unconstructible, introspected('Producer')):
    def fail(self, type_name, message, traceback, item):
        super().fail(_text(type_name), _text(message), _text(traceback), item)

    def send_packed(self, timeout, cancellable, record):
        """Sends a whole unit; what fails can be sent again."""
        return wait(_send_packed, self, timeout, cancellable, record)

    def send(self, value):
        """Sends a unit: an array or buffer, a sequence of them, or a dict of them by name. A GLib.Variant among them
        becomes the unit's portable value."""
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, (list, tuple)):
            items = ((None, item) for item in value)
        else:
            items = ((None, value),)

        builder = self.begin_unit(0, -1)
        try:
            for name, item in items:
                if isinstance(item, GLib.Variant):
                    builder.set_value(item)
                else:
                    builder.append(item, name)
            builder.commit()
        except BaseException:
            builder.abort()
            raise


def produce(function):
    """Runs a worker: function() is called for each iteration, and each value it yields is sent as a unit. An exception
    ends the iteration and is raised as WorkerError in the consumer."""
    producer = Arena.Producer.new_from_environment()
    while producer.wait_iteration(-1, None)[0]:
        n_sent = 0
        try:
            with contextlib.ExitStack() as stack:
                values = iter(function())
                stack.callback(getattr(values, 'close', lambda: None))
                for value in values:
                    producer.send(value)
                    n_sent += 1
        except ClosedError:  # the consumer has stopped and reads no more
            producer.finish_iteration()
        except Exception as error:
            producer.fail(type(error).__name__, str(error), traceback.format_exc(), n_sent)
        else:
            producer.finish_iteration()
