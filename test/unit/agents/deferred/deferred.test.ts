/** The steps and pieces of sno-deferred. */
import './steps.ts';
import './expiry.ts';
import './object-state.ts';
