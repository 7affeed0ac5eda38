import { describe, it } from 'mocha';

import { findMercurial, requireMercurial } from '../support/mercurial.js';
import { testLayouts } from './layout-tests.js';

const mercurial = findMercurial();
if (mercurial !== undefined) testLayouts(mercurial);
else {
  describe('layouts', () => {
    it('needs Mercurial', function () {
      requireMercurial(this);
    });
  });
}
