"""Lets Mercurial store deltas in the changelog, as versions before 4.0 did.

A test extension. Readers still accept such a changelog, but no command of today writes one.
"""
from mercurial import changelog

minimumhgversion = b'6.3'
testedwith = b'6.3 7.2'

_init = changelog.changelog.__init__


def storing_deltas(self, *args, **kwargs):
    _init(self, *args, **kwargs)
    if hasattr(self, 'delta_config'):
        self.delta_config.store_delta_chains = True
    self._storedeltachains = True


changelog.changelog.__init__ = storing_deltas
