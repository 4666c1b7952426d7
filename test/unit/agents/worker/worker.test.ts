/** The steps of a worker that only it has. */
import './identity.ts';
import './files.ts';
import './end.ts';
import './trust.ts';
