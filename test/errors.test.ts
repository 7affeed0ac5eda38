import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { ErrorCode, ErrorKind, ErrorPlace } from '../src/errors.js';
import { describeError, ERROR_RULES, RevconvertError, toRevconvertError } from '../src/errors.js';

/** An error as the file system throws it. */
const systemError = (code: string, path?: string): Error =>
  Object.assign(new Error(`${code}: refused`), { code, errno: -1, syscall: 'open' }, path === undefined ? {} : { path });

const caught = (action: () => unknown): unknown => {
  try {
    action();
  } catch (error) {
    return error;
  }
  return assert.fail('did not throw');
};

describe('errors', () => {
  describe('table', () => {
    const kinds: readonly ErrorKind[] = ['input', 'usage', 'system', 'bug', 'cancelled'];
    for (const [code, { kind, hint }] of Object.entries(ERROR_RULES)) {
      it(`${code} has a kind, and a hint of one line`, () => {
        assert.match(code, /^[A-Z]+(?:_[A-Z]+)*$/);
        assert.ok(kinds.includes(kind));
        assert.match(hint, /^\S.{8,}[^.\s]$/);
      });
    }

    const told: readonly (readonly [ErrorCode, ErrorKind])[] = [
      ['INDEX_TRUNCATED', 'input'],
      ['DESTINATION_EXISTS', 'usage'],
      ['NO_SPACE', 'system'],
      ['CHECK_FAILED', 'bug'],
      ['CANCELLED', 'cancelled'],
    ];
    for (const [code, kind] of told) {
      it(`${code} is of the kind ${kind}, also on the error`, () => {
        const error = new RevconvertError(code, 'message');
        assert.equal(error.kind, kind);
        assert.equal(error.hint, ERROR_RULES[code].hint);
        assert.equal(error.name, 'RevconvertError');
      });
    }
  });

  describe('one line', () => {
    const rows: readonly (readonly [ErrorPlace, string])[] = [
      [{}, 'bad base'],
      [{ path: 'data/f.i' }, 'data/f.i: bad base'],
      [{ rev: 0 }, 'rev 0: bad base'],
      [{ offset: 0 }, 'offset 0: bad base'],
      [{ path: 'data/f.i', rev: 812 }, 'data/f.i, rev 812: bad base'],
      [{ path: 'data/f.i', offset: 4294967296 }, 'data/f.i, offset 4294967296: bad base'],
      [{ path: 'data/f.i', rev: 812, offset: 7 }, 'data/f.i, rev 812, offset 7: bad base'],
    ];
    for (const [at, line] of rows) {
      it(line, () => assert.equal(describeError(new RevconvertError('DELTA_BASE', 'bad base', at)), line));
    }
  });

  it('learns more of its place and keeps what it knows', () => {
    const cause = new Error('beneath');
    const error = new RevconvertError('DELTA_BASE', 'bad base', { rev: 3 }, { cause });
    const located = error.located({ path: 'f.i', rev: 9, offset: 0 });
    assert.deepEqual(located.at, { path: 'f.i', rev: 3, offset: 0 });
    assert.deepEqual([located.code, located.message, located.cause], ['DELTA_BASE', 'bad base', cause]);
    assert.deepEqual(error.at, { rev: 3 });
  });

  it('crosses JSON and back', () => {
    const error = new RevconvertError('CHUNK_SIZE', 'too long', { path: 'f.i', rev: 3, offset: 2 ** 40 });
    const text = JSON.stringify(error);
    const data = { code: 'CHUNK_SIZE', message: 'too long', hint: ERROR_RULES.CHUNK_SIZE.hint, at: { path: 'f.i', rev: 3, offset: 2 ** 40 } } as const;
    assert.deepEqual(JSON.parse(text), data);
    const back = RevconvertError.fromJSON(data);
    assert.ok(back instanceof RevconvertError);
    assert.deepEqual(back.toJSON(), error.toJSON());
    assert.equal(back.kind, 'input');
  });

  describe('of anything thrown', () => {
    const mapped: readonly (readonly [string, ErrorCode])[] = [
      ['EACCES', 'PERMISSION'],
      ['EPERM', 'PERMISSION'],
      ['EROFS', 'PERMISSION'],
      ['ENOSPC', 'NO_SPACE'],
      ['EDQUOT', 'NO_SPACE'],
      ['EFBIG', 'NO_SPACE'],
      ['ENOENT', 'SYSTEM'],
      ['EIO', 'SYSTEM'],
      ['EMFILE', 'SYSTEM'],
    ];
    for (const [errno, code] of mapped) {
      it(`${errno} becomes ${code}`, () => {
        const error = systemError(errno, '/some/file');
        const found = toRevconvertError(error, { path: 'name', rev: 1 });
        assert.deepEqual(found.toJSON(), { code, message: `${errno}: refused`, hint: ERROR_RULES[code].hint, at: { path: '/some/file' } });
        assert.equal(found.cause, error);
      });
    }

    it('a system error that names no file is given the place', () => {
      assert.deepEqual(toRevconvertError(systemError('ENOSPC'), { path: 'f.i' }).at, { path: 'f.i' });
    });

    it('a real system error has a code', () => {
      const error = toRevconvertError(caught(() => readFileSync('/nowhere/at/all')));
      assert.deepEqual([error.code, error.at], ['SYSTEM', { path: '/nowhere/at/all' }]);
    });

    it('a full disk has a code', function () {
      if (process.platform !== 'linux') {
        this.skip(); // no /dev/full
      }
      const descriptor = openSync('/dev/full', 'w');
      try {
        const error = toRevconvertError(caught(() => writeSync(descriptor, 'x')), { path: 'f.d' });
        assert.deepEqual([error.code, error.at], ['NO_SPACE', { path: 'f.d' }]);
      } finally {
        closeSync(descriptor);
      }
    });

    it('an abort is a cancellation', () => {
      const reason: unknown = AbortSignal.abort().reason;
      const error = toRevconvertError(reason, { path: 'f.i' });
      assert.deepEqual([error.code, error.kind, error.at, error.cause], ['CANCELLED', 'cancelled', {}, reason]);
    });

    it('one of ours stays, with the place added', () => {
      const error = toRevconvertError(new RevconvertError('CHUNK_SIZE', 'too long', { rev: 4 }), { path: 'f.i', rev: 1 });
      assert.deepEqual([error.code, error.message, error.at], ['CHUNK_SIZE', 'too long', { path: 'f.i', rev: 4 }]);
    });

    const unknown: readonly (readonly [string, unknown, string])[] = [
      ['an error without a system call', new TypeError('x is not a function'), 'x is not a function'],
      ['an error with a code of its own', Object.assign(new Error('went wrong'), { code: 'EACCES' }), 'went wrong'],
      ['a string', 'text', 'text'],
      ['undefined', undefined, 'undefined'],
      ['an object', { code: 'ENOSPC' }, '[object Object]'],
    ];
    for (const [title, thrown, message] of unknown) {
      it(`${title} is a bug of ours`, () => {
        const error = toRevconvertError(thrown, { path: 'f.i' });
        assert.deepEqual([error.code, error.kind, error.message, error.at], ['INTERNAL', 'bug', message, { path: 'f.i' }]);
        assert.equal(error.cause, thrown);
      });
    }
  });
});
