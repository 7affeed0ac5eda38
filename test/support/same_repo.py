"""hg samerepo SOURCE DESTINATION: compares two repositories with Mercurial's own reader.

A test extension. Equal means: the same revlogs, in each the same revisions in the same order with the
same node, parents, linkrev, flags and raw text; for every head the same files as a user sees them (so
what is stored outside the revlogs is there too); the same phases, bookmarks, tags and obsolescence
markers. How revisions are stored (deltas, compression, requirements) is not compared.
Prints one line of counts and exits with 0, or the first differences and exits with 1.
"""
from mercurial import error, hg, pycompat, registrar

cmdtable = {}
command = registrar.command(cmdtable)
testedwith = b'6.3 7.2'

# flags that say how a delta is stored, not what the revision is: bits 10 to 6, set by Mercurial 7
STORAGE_FLAGS = 0x07C0
SHOWN = 20


def open_repo(ui, path):
    return hg.repository(ui.copy(), path).unfiltered()


def storage(revlog_or_wrapper):
    return getattr(revlog_or_wrapper, '_revlog', revlog_or_wrapper)


def store_names(repo):
    """The names of all indexes that the store itself lists."""
    for entry in repo.store.walk():
        if isinstance(entry, tuple):
            yield next(part for part in entry if isinstance(part, bytes))
        elif entry.is_revlog:
            yield entry.main_file_path()


def revlogs(repo):
    """Every revlog by name: what the store lists, and every file that a changeset names."""
    found = {b'00changelog.i': storage(repo.changelog)}
    names = set(name for name in store_names(repo) if name.endswith(b'.i'))
    changelog = storage(repo.changelog)
    for rev in changelog:
        try:
            names.update(b'data/%s.i' % file for file in repo.changelog.read(rev)[3])
        except (error.RevlogError, error.StorageError):
            pass
    for name in names:
        if name.startswith(b'data/'):
            one = storage(repo.file(name[5:-2]))
        elif name == b'00manifest.i':
            one = storage(repo.manifestlog.getstorage(b''))
        elif name.startswith(b'meta/') and name.endswith(b'/00manifest.i'):
            one = storage(repo.manifestlog.getstorage(name[5 : -len(b'00manifest.i')]))
        else:
            continue
        if len(one):
            found[name] = one
    return found


def raw_text(revlog, rev):
    try:
        return bytes(revlog.rawdata(rev))
    except (error.RevlogError, error.StorageError, OSError) as failure:
        return 'unreadable: %s' % type(failure).__name__


def revision_differences(x, y, rev):
    for what in ('node', 'parentrevs', 'linkrev'):
        p, q = getattr(x, what)(rev), getattr(y, what)(rev)
        if p != q:
            yield '%s is %r, not %r' % (what, q, p)
    if (x.flags(rev) ^ y.flags(rev)) & ~STORAGE_FLAGS:
        yield 'flags are %x, not %x' % (y.flags(rev), x.flags(rev))
    if raw_text(x, rev) != raw_text(y, rev):
        yield 'raw text differs'


def file_content(context, name):
    try:
        return context[name].data()
    except (error.Abort, error.RevlogError, error.StorageError, LookupError) as failure:
        return 'unreadable: %s' % type(failure).__name__


def same_heads(a, b):
    for rev in a.changelog.headrevs():
        x, y = a[rev], b[rev]
        if sorted(x.manifest().iterkeys()) != sorted(y.manifest().iterkeys()):
            yield 'head %d: other files' % rev
            continue
        for name in x.manifest().iterkeys():
            if x.flags(name) != y.flags(name) or file_content(x, name) != file_content(y, name):
                yield 'head %d: %r differs' % (rev, name)


def markers(repo):
    return sorted(map(repr, repo.obsstore))


def same_labels(a, b):
    for rev in range(min(len(a), len(b))):
        if a[rev].phase() != b[rev].phase():
            yield 'changeset %d: phase %d, not %d' % (rev, b[rev].phase(), a[rev].phase())
        if a[rev].branch() != b[rev].branch():
            yield 'changeset %d: branch %r, not %r' % (rev, b[rev].branch(), a[rev].branch())
    for what, read in (
        ('bookmarks', lambda repo: dict(repo._bookmarks)),
        ('tags', lambda repo: repo.tags()),
        ('obsolescence markers', markers),
        ('working copy parents', lambda repo: repo.dirstate.parents()),
        ('working copy branch', lambda repo: repo.dirstate.branch()),
    ):
        if read(a) != read(b):
            yield '%s: %r, not %r' % (what, read(b), read(a))


def differences(a, b, counts):
    ra, rb = revlogs(a), revlogs(b)
    for name in sorted(set(ra) ^ set(rb)):
        yield '%r only in the %s' % (name, 'source' if name in ra else 'destination')
    for name in sorted(set(ra) & set(rb)):
        x, y = ra[name], rb[name]
        counts[0] += 1
        if len(x) != len(y):
            yield '%r: %d revisions, not %d' % (name, len(y), len(x))
        for rev in range(min(len(x), len(y))):
            counts[1] += 1
            for what in revision_differences(x, y, rev):
                yield '%r revision %d: %s' % (name, rev, what)
    if len(a) == len(b):
        yield from same_heads(a, b)
    yield from same_labels(a, b)


@command(b'samerepo', [], b'SOURCE DESTINATION', norepo=True)
def samerepo(ui, source, destination):
    counts = [0, 0]
    found = list(differences(open_repo(ui, source), open_repo(ui, destination), counts))
    for text in found[:SHOWN]:
        ui.write(b'differs: %s\n' % pycompat.bytestr(text))
    if found:
        ui.write(b'%d differences\n' % len(found))
        return 1
    ui.write(b'same: %d revlogs, %d revisions\n' % tuple(counts))
    return 0
