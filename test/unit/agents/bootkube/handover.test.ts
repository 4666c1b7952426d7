/** What bootkube hands over to the installed host; one process for all files. */
import './snapshot.ts';
import './api-objects.ts';
import './log-bundle.ts';
import './host-identity.ts';
import './handover.ts';
import './installed-host.ts';
import './sealed.ts';
