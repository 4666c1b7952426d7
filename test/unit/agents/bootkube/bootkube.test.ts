/**
 * The steps of bootkube that run the control plane, each kind in a file of its own: one process
 * starts for all. Those before and after are in preflight.test.ts and handover.test.ts.
 */
import './static-pods.ts';
import './kubelet.ts';
import './manifests.ts';
