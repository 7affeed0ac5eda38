/** The same as bundle-from-repository.test.ts for the newest Mercurial, where HG_NEWEST names one; a file of its own, to run beside it. */
import { findMercurial, newestHg } from '../support/mercurial.js';
import { testBundlesOf } from './bundle-from-repository-tests.js';

const newest = newestHg();
if (newest !== undefined && newest.hg !== findMercurial()?.hg) testBundlesOf(newest);
