/** Where the tests find what is not compiled: they run from dist/, the files stay in the source tree. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the project, seen from dist/test/support/. */
export const PROJECT_ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** A file beside the sources of the test helpers. */
export const supportFile = (name: string): string => join(PROJECT_ROOT, 'test', 'support', name);
