/** The cluster's name server is asked for addresses of the family in which the cluster's Services have theirs first. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { askNameServer } from '../../../../agents/reconfigure/validate/cluster-dns.ts';
import { addressBytes, familyOf } from '../../../../lib/base/network/address.ts';

const TYPES = { IPv4: 1, IPv6: 28 } as const;

/** A name server, which knows one address for every name; that of IPv4 is asked in the other tests of `validate`. */
async function nameServer(t: Test, known: string): Promise<string> {
  const socket = createSocket('udp6');
  t.teardown(() => socket.close());
  socket.on('message', (question, { port, address }) => {
    // Behind the header: the name, which ends with a zero, then type and class.
    const end = question.indexOf(0, 12) + 5;
    const has = question.readUInt16BE(end - 4) === TYPES[familyOf(known)];
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(has ? 1 : 0, 6);
    header.writeUInt16BE(0, 10);
    const bytes = addressBytes(known);
    const record = Buffer.from([0xc0, 12, 0, TYPES[familyOf(known)], 0, 1, 0, 0, 0, 5]);
    const answer = [record, Buffer.from([0, bytes.length]), bytes];
    socket.send(
      Buffer.concat([header, question.subarray(12, end), ...(has ? answer : [])]),
      port,
      address,
    );
  });
  socket.bind(0, '::1');
  await once(socket, 'listening');
  return `[::1]:${socket.address().port}`;
}

t.test('one at an address of IPv6', async (t) => {
  const server = await nameServer(t, 'fd02::1');
  t.same(await askNameServer(server, 'kubernetes.default.svc'), ['fd02::1']);
  const ofOthers = await nameServer(t, '172.30.0.1');
  await t.rejects(askNameServer(ofOthers, 'kubernetes.default.svc'), { code: 'ENODATA' });
});
