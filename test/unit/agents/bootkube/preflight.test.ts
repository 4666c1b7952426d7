/** What bootkube checks before it changes anything: one process starts for all. */
import './host-context.ts';
import './preflight.ts';
import './dns.ts';
import './site.ts';
import './payload.ts';
import './render.ts';
