/** The same as layouts.test.ts for the newest Mercurial, where HG_NEWEST names one; a file of its own, to run beside it. */
import { findMercurial, newestHg } from '../support/mercurial.js';
import { testLayouts } from './layout-tests.js';

const newest = newestHg();
if (newest !== undefined && newest.hg !== findMercurial()?.hg) testLayouts(newest);
