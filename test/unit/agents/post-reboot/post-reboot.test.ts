/** The steps of post-reboot, one file each; one process for all. */
import './clean.ts';
import './retire.ts';
import './record.ts';
import './api.ts';
import './api-steps.ts';
import './restore.ts';
import './serving-certificate.ts';
import './check-identity.ts';
import './complete.ts';
