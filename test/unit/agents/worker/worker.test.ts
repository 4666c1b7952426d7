/** The steps of a worker that only it has. */
import './inputs.ts';
import './identity.ts';
import './files.ts';
import './end.ts';
import './trust.ts';
import './interrupted.ts';
