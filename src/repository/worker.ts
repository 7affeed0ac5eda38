/** The entry point of threads that convert and verify. */
import { serveThread } from './serve-thread.js';
import { CONVERT, VERIFY } from './work-kinds.js';

serveThread([CONVERT, VERIFY]);
