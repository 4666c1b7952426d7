/** The steps that every installed host runs before its kubelet. */
import './install-payload.ts';
import './sign-expired.ts';
