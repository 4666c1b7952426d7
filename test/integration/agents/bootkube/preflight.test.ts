/** What bootkube checks before it changes anything; one process for all files. */
import './host-context.ts';
import './preflight.ts';
import './dns.ts';
import './site.ts';
import './payload.ts';
import './render.ts';
