"""hg makedictionaries: gives a repository zstd dictionaries, for the tests of contrib/hg/revlogdict.py.

A test extension. It trains dictionaries from the texts of the repository it is called in and from a seed,
so that two seeds make two sets of dictionaries under the same IDs, writes .hg/store/revlog-dictionaries, and
adds the requirement. Chunks stay as they are. Run it where contrib/hg/revlogdict.py is not loaded.
"""

import hashlib
import json
import os
import random

from mercurial import registrar, scmutil, util

cmdtable = {}
command = registrar.command(cmdtable)

REQUIREMENTS = {b'exp-revlog-zstd-dictionary.1', b'revlog-compression-zstd'}
SAMPLES = 400


def texts(repo):
    """all texts by kind of revlog"""
    found = {'changelog': [], 'manifest': [], 'filelog': []}
    manifests = repo.manifestlog.getstorage(b'')
    for rev in repo.changelog:
        found['changelog'].append(repo.changelog.revision(repo.changelog.node(rev)))
    for rev in manifests:
        found['manifest'].append(manifests.revision(manifests.node(rev)))
    for path in sorted({path for rev in repo for path in repo[rev].files()}):
        filelog = repo.file(path)
        for rev in filelog:
            found['filelog'].append(filelog.read(filelog.node(rev)))
    return found


def train(zstd, samples, number, seed):
    chosen = random.Random(seed)
    pieces = [text[at : at + 500] for text in samples for at in range(0, len(text), 500)]
    # training wants many samples that are not too short
    pieces = [b'%x %s' % (chosen.getrandbits(32), chosen.choice(pieces)) for _ in range(SAMPLES)]
    return zstd.train_dictionary(8192, pieces, k=64, d=8, dict_id=number).as_bytes()


@command(
    b'makedictionaries',
    [
        (b'', b'seed', 1, b'', b'NUMBER'),
        (b'', b'first', 1, b'ID of the first dictionary', b'NUMBER'),
        (b'', b'suffixes', b'{}', b'as in index.json', b'JSON'),
    ],
)
def makedictionaries(ui, repo, **opts):
    repo = repo.unfiltered()
    first = opts['first']
    zstd = util.compengines[b'zstd']._module
    entries, write = [], {}
    with repo.wlock(), repo.lock():
        os.mkdir(repo.svfs.join(b'revlog-dictionaries'))
        for number, (kind, samples) in enumerate(texts(repo).items(), first):
            content = train(zstd, samples, number, opts['seed'])
            name = b'revlog-dictionaries/%d.zdict' % number
            repo.svfs.write(name, content)
            digest = hashlib.sha256(content).hexdigest()
            entries.append({'id': number, 'kind': kind, 'bytes': len(content), 'sha256': digest})
            write[kind] = number
        write['suffixes'] = json.loads(opts['suffixes'])
        listing = {'version': 1, 'dictionaries': entries, 'write': write}
        repo.svfs.write(b'revlog-dictionaries/index.json', json.dumps(listing).encode())
        repo.requirements |= REQUIREMENTS
        scmutil.writereporequirements(repo)
