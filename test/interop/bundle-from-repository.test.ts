import { describe, it } from 'mocha';

import { findMercurial, requireMercurial } from '../support/mercurial.js';
import { testBundlesOf } from './bundle-from-repository-tests.js';

const mercurial = findMercurial();
if (mercurial !== undefined) testBundlesOf(mercurial);
else {
  describe('bundles of repositories', () => {
    it('need Mercurial', function () {
      requireMercurial(this);
    });
  });
}
