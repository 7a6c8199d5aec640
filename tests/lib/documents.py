# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests read out of README.md and the guides of doc/."""
import re


def code(path, language):
    """The blocks of one language in a Markdown file, in order."""
    return re.findall(rf'^```{language}\n(.*?)^```$', path.read_text(), re.MULTILINE | re.DOTALL)


def guides(root):
    return sorted((root / 'doc').glob('*.md'))
