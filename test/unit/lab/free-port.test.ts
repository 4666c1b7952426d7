import { join } from 'node:path';
import { execaNode } from 'execa';
import t from 'tap';
import { freePort } from '../../../lab/servers/free-port.ts';

const PROGRAM = join(import.meta.dirname, 'takes-port.ts');
/** Outside the range that others take from. */
const TWO_PORTS = { first: 19_998, end: 20_000 };

t.test('no two processes get the same port, though neither listens yet', async (t) => {
  const range = [TWO_PORTS.first, TWO_PORTS.end].map(String);
  const other = execaNode(PROGRAM, range, { ipc: true, reject: false });
  t.teardown(() => other.kill());
  const theirs = await other.getOneMessage();
  const ours = await freePort(TWO_PORTS);
  t.strictSame(new Set([theirs, ours]), new Set([19_998, 19_999]));
  await t.rejects(freePort(TWO_PORTS), { message: /^no free port from 19998 to 19999/ });
});
