/** Takes a port of the range that it is given, tells its parent, and keeps it until it is ended. */
import { getOneMessage, sendMessage } from 'execa';
import { freePort } from '../../../lab/servers/free-port.ts';

const [first, end] = process.argv.slice(2).map(Number);
if (first === undefined || end === undefined) throw new Error('usage: takes-port.ts FIRST END');
await sendMessage(await freePort({ first, end }));
await getOneMessage();
