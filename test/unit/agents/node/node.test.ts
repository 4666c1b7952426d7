/** The steps of the agents that stay on every installed host. */
import './install-payload.ts';
import './sign-expired.ts';
import './renew-leaves.ts';
import './approve-workers.ts';
import './kubelet-serving.ts';
import './laptop-ca.ts';
import './kubelet-certificates.ts';
import './certificates-command.ts';
import './stage-rotation.ts';
import './rotate-command.ts';
import './rotation-apply.ts';
import './rotation-phases.ts';
import './rotation-secrets.ts';
import './rotation-workloads.ts';
import './rotation-units.ts';
import './replace-api-server.ts';
import './replace-pod.ts';
