/** reconfigure: the site volume, the steps of the site, and the way back. */
import './arrive.ts';
import './hold-back.ts';
import './start.ts';
import './steps.ts';
import './host-facts.ts';
import './stop.ts';
import './credentials.ts';
import './fast-clock.ts';
import './network.ts';
import './console.ts';
import './tell-medium.ts';
import './login-keys.ts';
import './site-certificate.ts';
import './openshift.ts';
import './openshift-host.ts';
import './openshift-network.ts';
import './openshift-way-back.ts';
