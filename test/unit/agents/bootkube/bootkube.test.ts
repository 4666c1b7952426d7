/** The steps of bootkube, each kind in a file of its own: one process starts for all. */
import './host-context.ts';
import './static-pods.ts';
import './kubelet.ts';
import './snapshot.ts';
import './handover.ts';
import './preflight.ts';
import './dns.ts';
import './payload.ts';
import './render.ts';
import './manifests.ts';
import './api-objects.ts';
import './log-bundle.ts';
import './host-identity.ts';
import './installed-host.ts';
import './site.ts';
