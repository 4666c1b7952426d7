/**
 * The steps of bootkube that run the control plane, one file per kind; one process for all. Earlier
 * and later steps are in preflight.test.ts and handover.test.ts.
 */
import './static-pods.ts';
import './kubelet.ts';
import './memory.ts';
import './network-plugins.ts';
import './manifests.ts';
import './openshift.ts';
