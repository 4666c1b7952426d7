/** The steps of post-reboot, each in a file of its own: one process starts for all. */
import './clean.ts';
import './retire.ts';
import './record.ts';
import './api-steps.ts';
import './restore.ts';
import './serving-certificate.ts';
import './check-identity.ts';
import './complete.ts';
