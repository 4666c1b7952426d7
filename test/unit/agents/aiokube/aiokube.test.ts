/** The steps of aiokube, one file for each kind; one process for all. */
import './marker.ts';
import './identity.ts';
import './kubelet.ts';
import './node-role.ts';
import './payload.ts';
import './leftovers.ts';
import './rights.ts';
import './resume.ts';
import './continue-lost.ts';
