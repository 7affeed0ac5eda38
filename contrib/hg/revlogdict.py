# revlogdict.py - revlogs compressed with zstd dictionaries
#
# This software may be used and distributed according to the terms of the
# GNU General Public License version 2 or any later version.
# SPDX-License-Identifier: GPL-2.0-or-later
"""read and write revlogs compressed with zstd dictionaries (EXPERIMENTAL)

Most chunks of a revlog are a few hundred bytes long. There is little in one
of them that a compressor could refer back to, unless it starts with a
dictionary: bytes that are typical of such chunks. This extension lets
Mercurial work with repositories whose chunks were compressed in that way. It
does not make dictionaries.

Such a repository has the requirement ``exp-revlog-zstd-dictionary.1``, by
which Mercurial without this extension knows that it cannot read it. Its
dictionaries are files in ``.hg/store/revlog-dictionaries``. The file
``index.json`` beside them lists them with size and SHA-256, and says under
``write`` which one is to be used for new data::

  {"version": 1,
   "dictionaries": [
     {"id": 1, "kind": "changelog", "bytes": 112640, "sha256": "..."},
     {"id": 2, "kind": "manifest", "bytes": 112640, "sha256": "..."},
     {"id": 3, "kind": "filelog", "bytes": 112640, "sha256": "..."}],
   "write": {"changelog": 1, "manifest": 2, "filelog": 3,
             "suffixes": {".py": 0}}}

Every zstd frame names the dictionary it needs, so that dictionaries can be
added later on, and frames without one may lie beside the others. 0 stands for
no dictionary. ``suffixes`` overrides ``filelog`` by the end of the name of the
tracked file, from its last dot on.

Nothing that depends on a dictionary leaves the repository: peers pull, push
and clone as from any other repository, bundles are ordinary bundles. Stream
clones, which would send the files as they are, are not offered. Local clones
have copies of the dictionaries, and need the extension as well, as shares do.

``hg debugupgraderepo`` keeps the dictionaries of a repository that has them.
To go back to ordinary storage::

  $ hg debugupgraderepo --run --config revlogdict.keep=no

The same happens where ``format.revlog-compression`` chooses an engine other
than zstd.

Config
======

``revlogdict.keep``
    Whether ``hg debugupgraderepo`` keeps the dictionaries. (default: True)
"""

import hashlib
import json
import os
import struct

from mercurial.i18n import _
from mercurial import (
    bundle2,
    error,
    extensions,
    localrepo,
    registrar,
    requirements as requirementsmod,
    revlog,
    streamclone,
    util,
)
from mercurial.interfaces import repository
from mercurial.revlogutils import constants as revlogconst
from mercurial.upgrade_utils import (
    actions as upgrade_actions,
    engine as upgrade_engine,
)
from mercurial.utils import stringutil

testedwith = b'6.3.2 7.2.4'
minimumhgversion = b'6.3'

REQUIREMENT = b'exp-revlog-zstd-dictionary.1'

# what a repository with dictionaries cannot do without
NEEDED_REQUIREMENTS = (
    requirementsmod.REVLOGV1_REQUIREMENT,
    requirementsmod.STORE_REQUIREMENT,
    requirementsmod.REVLOG_COMPRESSION_ZSTD,
)

FOLDER = b'revlog-dictionaries'
LISTING = FOLDER + b'/index.json'

# the key in the options of the store, and in those of the zstd engine
OPTION = b'zstd.dictionaries'

# the names that index.json has for the kinds of revlogs
KINDS = {
    revlogconst.KIND_CHANGELOG: 'changelog',
    revlogconst.KIND_MANIFESTLOG: 'manifest',
    revlogconst.KIND_FILELOG: 'filelog',
}

# little endian: magic number, dictionary ID
DICTIONARY_HEADER = struct.Struct('<II')
DICTIONARY_MAGIC = 0xEC30A437

# The smallest frame there is: magic number (4), descriptor, dictionary ID,
# content size, block header (3), and a byte in the block.
SMALLEST_FRAME = 11

configtable = {}
configitem = registrar.configitem(configtable)

configitem(b'revlogdict', b'keep', default=True)


def zstdmodule():
    """the zstd module of this Mercurial, None where it has none"""
    engine = util.compengines[b'zstd']
    return engine._module if engine.available() else None


# index.json and the dictionaries


def badlisting(reason):
    return error.StorageError(_(b'%s: %s') % (LISTING, reason))


def isnumber(value, low, high):
    return type(value) is int and low <= value <= high


class listing:
    """The content of index.json."""

    def __init__(self, content):
        if not content:
            raise badlisting(_(b'the file is missing or empty'))
        try:
            data = json.loads(content.decode('utf-8'))
        except (ValueError, RecursionError) as err:
            raise badlisting(stringutil.forcebytestr(err))
        if not isinstance(data, dict):
            raise badlisting(_(b'this is not a JSON object'))
        version = data.get('version')
        if not isnumber(version, 1, 1):
            shown = stringutil.forcebytestr(json.dumps(version))
            raise badlisting(_(b'unknown version %s') % shown)
        # ID -> (size in bytes, SHA-256 in hexadecimal)
        self.files = self._files(data.get('dictionaries'))
        write = data.get('write', {})
        self._kinds = self._choices(write, KINDS.values())
        suffixes = write.get('suffixes', {})
        self._suffixes = self._choices(suffixes, suffixes)

    def _files(self, entries):
        if not isinstance(entries, list):
            raise badlisting(_(b'"dictionaries" is not a list'))
        files = {}
        for entry in entries:
            number = entry.get('id') if isinstance(entry, dict) else None
            if not isnumber(number, 1, 255):
                raise badlisting(_(b'a dictionary has no ID from 1 to 255'))
            if number in files:
                raise badlisting(_(b'dictionary %d is listed twice') % number)
            size, digest = entry.get('bytes'), entry.get('sha256')
            if not isnumber(size, 0, 1 << 62) or not isinstance(digest, str):
                msg = _(b'dictionary %d has no size or no SHA-256')
                raise badlisting(msg % number)
            files[number] = (size, digest.lower())
        return files

    def _choices(self, chosen, keys):
        """those of ``chosen`` under ``keys``, all of them listed, or 0"""
        if not isinstance(chosen, dict):
            raise badlisting(_(b'"write" is not as it should be'))
        choices = {key: chosen[key] for key in keys if key in chosen}
        for number in choices.values():
            if not isnumber(number, 0, 255):
                raise badlisting(_(b'"write" is not as it should be'))
            if number and number not in self.files:
                msg = _(b'dictionary %d is to be written but is not listed')
                raise badlisting(msg % number)
        return choices

    def forwriting(self, target):
        """the ID for new data of a revlog, 0 for none"""
        kind, path = target
        if kind == revlogconst.KIND_FILELOG and self._suffixes:
            number = self._suffixes.get(suffix(path))
            if number is not None:
                return number
        return self._kinds.get(KINDS.get(kind), 0)


def suffix(path):
    """the end of a file's name from its last dot on, None where it has none

    A name that begins with its last dot has none, nor one that is not ASCII.
    """
    name = path.rsplit(b'/', 1)[-1]
    dot = name.rfind(b'.')
    if dot <= 0:
        return None
    try:
        return name[dot:].decode('ascii')
    except UnicodeDecodeError:
        return None


class dictionaryset:
    """The dictionaries which one index.json lists, each read when needed."""

    def __init__(self, opener, content):
        self._opener = opener
        self.content = content
        self._loaded = {}
        self._prepared = {}

    @util.propertycache
    def _listing(self):
        return listing(self.content)

    def forwriting(self, target):
        return self._listing.forwriting(target)

    def forreading(self, number):
        """dictionary ``number``, for a decompressor"""
        if number not in self._loaded:
            self._loaded[number] = self._makedictionary(self._read(number))
        return self._loaded[number]

    def forcompressing(self, number, level):
        """dictionary ``number``, digested for a compressor of ``level``

        Otherwise each call of a compressor would digest it anew.
        """
        key = (number, level)
        if key not in self._prepared:
            content = self.forreading(number).as_bytes()
            dictionary = self._makedictionary(content)
            dictionary.precompute_compress(level=level)
            self._prepared[key] = dictionary
        return self._prepared[key]

    def _makedictionary(self, content):
        zstd = zstdmodule()
        return zstd.ZstdCompressionDict(
            content, dict_type=zstd.DICT_TYPE_FULLDICT
        )

    def _read(self, number):
        name = b'%s/%d.zdict' % (FOLDER, number)
        if number not in self._listing.files:
            msg = _(b'zstd dictionary %d is not listed in %s')
            raise error.StorageError(msg % (number, LISTING))
        try:
            content = self._opener.read(name)
        except FileNotFoundError:
            msg = _(b'zstd dictionary %d: %s is missing')
            raise error.StorageError(msg % (number, name))
        reason = self._damage(number, content)
        if reason is not None:
            msg = _(b'zstd dictionary %d: %s is damaged: %s')
            raise error.StorageError(msg % (number, name, reason))
        return content

    def _damage(self, number, content):
        size, digest = self._listing.files[number]
        if len(content) != size:
            return _(b'%d bytes, expected %d') % (len(content), size)
        if hashlib.sha256(content).hexdigest() != digest:
            return _(b'SHA-256 differs from that in %s') % LISTING
        if size < DICTIONARY_HEADER.size:
            return _(b'not a zstd dictionary')
        magic, inside = DICTIONARY_HEADER.unpack_from(content)
        if magic != DICTIONARY_MAGIC:
            return _(b'not a zstd dictionary')
        if inside != number:
            return _(b'it says that it is dictionary %d') % inside
        return None


class storedictionaries:
    """The dictionaries of one store, as one repository object sees them.

    This lies in the options of the store's vfs, which each repository object
    has for itself: stores have different dictionaries under the same ID.
    """

    def __init__(self, opener=None, writing=True):
        self._opener = opener
        self._writing = writing
        self._current = None

    def forrevlog(self, rl):
        """what the zstd engine needs to know for one revlog"""
        # Whoever replaces the store replaces the changelog as well, so that it
        # is read again. Revlogs that are open keep what belongs to them.
        isfilelog = rl.target[0] == revlogconst.KIND_FILELOG
        if self._current is None or not isfilelog:
            self._refresh(self._opener or rl.opener)
        return self._current, rl.target if self._writing else None

    def _refresh(self, opener):
        content = opener.tryread(LISTING)
        if self._current is None or self._current.content != content:
            self._current = dictionaryset(opener, content)


# compression


def framedictionary(frame):
    """the ID of the dictionary that a zstd frame needs, 0 for none"""
    if len(frame) < 9:
        return 0
    descriptor = frame[4]
    size = (0, 1, 2, 4)[descriptor & 3]
    # a frame of a single segment has no window descriptor
    start = 5 if descriptor & 0x20 else 6
    return int.from_bytes(frame[start : start + size], 'little')


class dictionarycompressor:
    """The zstd compressor of a revlog in a store with dictionaries.

    ``plain`` is the compressor which the revlog would have otherwise.
    """

    def __init__(self, plain, dictionaries, target, level):
        self._plain = plain
        self._dictionaries = dictionaries
        self._target = target
        self._level = level
        self._decompressors = {}

    @util.propertycache
    def _compressor(self):
        """a compressor with the dictionary for new data, None for none"""
        if self._target is None:
            return None
        number = self._dictionaries.forwriting(self._target)
        if number == 0:
            return None
        dictionary = self._dictionaries.forcompressing(number, self._level)
        return zstdmodule().ZstdCompressor(
            level=self._level, dict_data=dictionary
        )

    def compress(self, data):
        compressor = self._compressor
        if compressor is None:
            return self._plain.compress(data)
        if len(data) <= SMALLEST_FRAME:
            return None
        frame = compressor.compress(data)
        return frame if len(frame) < len(data) else None

    def decompress(self, data):
        number = framedictionary(data)
        if number == 0:
            return self._plain.decompress(data)
        decompressor = self._decompressors.get(number)
        if decompressor is None:
            decompressor = zstdmodule().ZstdDecompressor(
                dict_data=self._dictionaries.forreading(number)
            )
            self._decompressors[number] = decompressor
        try:
            return decompressor.decompress(data)
        except (zstdmodule().ZstdError, MemoryError) as err:
            msg = _(b'revlog decompress error (zstd dictionary %d): %s')
            reason = stringutil.forcebytestr(err)
            raise error.StorageError(msg % (number, reason))


def revlogcompressor(orig, engine, opts=None):
    plain = orig(engine, opts)
    chosen = opts.get(OPTION) if opts else None
    if chosen is None:
        return plain
    dictionaries, target = chosen
    level = opts.get(b'zstd.level')
    if level is None:
        level = opts.get(b'level')
    # zstd takes 0 for its default level, but digests no dictionary for it
    return dictionarycompressor(plain, dictionaries, target, level or 3)


def storeoptions(orig, ui, requirements, features):
    options = orig(ui, requirements, features)
    if REQUIREMENT in requirements:
        options[OPTION] = storedictionaries()
    return options


def initrevlogoptions(orig, rl):
    result = orig(rl)
    dictionaries = rl.opener.options.get(OPTION)
    if dictionaries is not None:
        features = getattr(rl, 'feature_config', None)
        if features is not None:
            options = features.compression_engine_options
        else:
            options = rl._compengineopts
        options[OPTION] = dictionaries.forrevlog(rl)
        # Changegroups of version 04 would carry chunks as they are stored.
        rl.may_emit_compressed = False
        # Revlogs in Rust have compression of their own.
        rl.opener.rust_compatible = False
    return result


# what a repository can do, and what it must not do


def featuresetup(ui, supported):
    supported.add(REQUIREMENT)


def checkrequirements(orig, requirements, supported):
    if REQUIREMENT in requirements and REQUIREMENT in supported:
        if zstdmodule() is None:
            msg = _(b'repository has zstd dictionaries, but no zstd module')
            hint = _(b'"hg debuginstall" lists what this Mercurial has')
            raise error.RequirementError(msg, hint=hint)
        for needed in NEEDED_REQUIREMENTS:
            if needed not in requirements:
                msg = _(b'repository requires %s, but not %s as well')
                raise error.RequirementError(msg % (REQUIREMENT, needed))
    return orig(requirements, supported)


def refusestream(repo):
    if REQUIREMENT in repo.requirements:
        msg = _(b'a repository with zstd dictionaries cannot be streamed')
        hint = _(b'use a bundle of another type, such as zstd-v2')
        raise error.Abort(msg, hint=hint)


def streampart(orig, bundler, repo, *args, **kwargs):
    if kwargs.get('stream'):
        refusestream(repo)
    return orig(bundler, repo, *args, **kwargs)


def streambundle(orig, repo, *args, **kwargs):
    refusestream(repo)
    return orig(repo, *args, **kwargs)


def copydictionaries(source, destination):
    folder = os.path.join(source.spath, FOLDER)
    if os.path.isdir(folder):
        copied = os.path.join(destination.spath, FOLDER)
        util.copyfiles(folder, copied, hardlink=False)


def localclone(orig, source, destination):
    if REQUIREMENT in source.requirements:
        copydictionaries(source, destination)
    return orig(source, destination)


def extendstore(store):
    class dictionarystore(store.__class__):
        def copylist(self):
            return [*super().copylist(), b'store/' + FOLDER]

    store.__class__ = dictionarystore


# debugupgraderepo


class zstddictionary(upgrade_actions.requirementformatvariant):
    name = b'zstd-dictionary'
    _requirement = REQUIREMENT
    default = False
    description = _(b'chunks are compressed without zstd dictionaries')
    upgrademessage = _(b'chunks will be compressed with zstd dictionaries')

    @classmethod
    def fromconfig(cls, repo):
        if not cls.fromrepo(repo):
            return False  # there are no dictionaries
        engine = upgrade_actions.compressionengine.fromconfig(repo)
        return engine == b'zstd' and repo.ui.configbool(b'revlogdict', b'keep')


def preservedrequirements(orig, repo):
    preserved = orig(repo)
    if zstddictionary.fromconfig(repo):
        preserved = preserved | {REQUIREMENT}
    return preserved


def withrequirement(orig, repo, *args):
    return orig(repo, *args) | {REQUIREMENT}


def upgrade(orig, ui, source, destination, operation):
    if REQUIREMENT in source.requirements:
        options = destination.svfs.options
        if REQUIREMENT in operation.new_requirements:
            copydictionaries(source, destination)
            options[OPTION] = storedictionaries()
        else:
            # Chunks come as they are stored in the source: the destination
            # has to read them, and must not store them as they are.
            options[OPTION] = storedictionaries(source.svfs, writing=False)
            deltaconfig = options.get(b'delta-config')
            if deltaconfig is not None:
                deltaconfig.lazy_compression = False
    return orig(ui, source, destination, operation)


# setup


def wrapstoreoptions():
    try:
        from mercurial.repo import vfs_options  # newer Mercurial
    except ImportError:
        module, name = localrepo, 'resolvestorevfsoptions'
    else:
        module, name = vfs_options, 'resolve_store_vfs_options'
    extensions.wrapfunction(module, name, storeoptions)


def uisetup(ui):
    localrepo.featuresetupfuncs.add(featuresetup)
    wrapstoreoptions()
    upgrade_actions.registerformatvariant(zstddictionary)
    engine = type(util.compengines[b'zstd'])
    actions = upgrade_actions
    for container, name, wrapper in (
        (localrepo, 'ensurerequirementsrecognized', checkrequirements),
        (revlog.revlog, '_init_opts', initrevlogoptions),
        (engine, 'revlogcompressor', revlogcompressor),
        (bundle2, 'addpartbundlestream2', streampart),
        (streamclone, 'generatebundlev1', streambundle),
        (streamclone, 'local_copy', localclone),
        (upgrade_engine, 'upgrade', upgrade),
        (actions, 'preservedrequirements', preservedrequirements),
        (actions, 'supportremovedrequirements', withrequirement),
        (actions, 'supporteddestrequirements', withrequirement),
    ):
        extensions.wrapfunction(container, name, wrapper)


def reposetup(ui, repo):
    if repo.local() and REQUIREMENT in repo.requirements:
        repo.features.discard(repository.REPO_FEATURE_STREAM_CLONE)
        extendstore(repo.store)
