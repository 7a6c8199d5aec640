# SPDX-License-Identifier: LGPL-2.1-or-later
"""Iterates over a Python function in another process; its batches come through shared memory."""
