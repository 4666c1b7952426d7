/** The steps and parts of sno-deferred. */
import './steps.ts';
import './retire.ts';
import './openshift.ts';
import './command.ts';
import './expiry.ts';
import './object-state.ts';
