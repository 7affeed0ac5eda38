/** The entry point of threads that work on bundles. */
import { serveThread } from '../repository/serve-thread.js';
import { BUILD } from './bundle-work-kinds.js';

serveThread([BUILD]);
