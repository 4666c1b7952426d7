/** Backups and their restore, step by step, on a host in a folder. */
import './create.ts';
import './restore.ts';
import './restore-context.ts';
import './or-undo.ts';
import './command.ts';
import './new-host.ts';
import './agent.ts';
