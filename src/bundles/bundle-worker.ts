/** The entry point of threads that make bundles of repositories, and repositories of bundles. */
import { serveThread } from '../repository/serve-thread.js';
import { BUILD, BUNDLE } from './bundle-work-kinds.js';

serveThread([BUNDLE, BUILD]);
