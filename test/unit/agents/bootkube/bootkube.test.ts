/** The steps of bootkube, each kind in a file of its own: one process starts for all. */
import './static-pods.ts';
import './snapshot.ts';
import './handover.ts';
