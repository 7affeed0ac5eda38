import type { Mercurial } from './workspace.js';

/** What a revlog would come to. */
export interface DeltaSizes {
  readonly bytes: number;
  readonly fullTexts: number;
  readonly longest: number;
}

/**
 * What the changelog would come to with deltas as Mercurial before 4.0 stored them: its own diff, whole lines against the
 * previous revision, within its limits (the delta no longer than the text, the chain no more than two texts of bytes and
 * four from end to end). Nothing is written. Undefined where Mercurial runs no scripts.
 */
export function sizeMercurialDeltas(hg: Mercurial, repository: string): DeltaSizes | undefined {
  const printed = hg.runScript(repository, SCRIPT);
  return printed === undefined ? undefined : (JSON.parse(printed) as DeltaSizes);
}

const SCRIPT = `
import json, zlib
from mercurial import mdiff
changelog = repo.unfiltered().changelog
def stored(delta):
    compressed = zlib.compress(delta)
    return min(len(compressed), len(delta) + (delta[:1] != b'\\0'))
previous, end, start, chain, length = b'', 0, 0, 0, 0
full = longest = 0
for rev in range(len(changelog)):
    text = changelog.revision(changelog.node(rev))
    size = stored(mdiff.textdiff(previous, text))
    if rev and size <= len(text) and chain + size <= 2 * len(text) and end + size - start <= 4 * len(text):
        chain, length = chain + size, length + 1
    else:
        size = stored(text)
        full, start, chain, length = full + 1, end, size, 0
    end, longest, previous = end + size, max(longest, length), text
print(json.dumps({'bytes': end, 'fullTexts': full, 'longest': longest}))
`;
