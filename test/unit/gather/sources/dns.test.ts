import { createSocket, type Socket } from 'node:dgram';
import t from 'tap';
import { askFor } from '../../../../agents/gather/sources/dns.ts';
import { parseResolvConf } from '../../../../lib/host/resolv-conf.ts';
import { soon } from './host.ts';

const RECORDS: Readonly<Record<string, string>> = {
  'api.sno.example.test': '192.0.2.7',
  'edge.example.test': '192.0.2.8',
};

/** A name server with the records above, for IPv4, that never answers for "silent". */
async function nameServer(): Promise<{ socket: Socket; address: string }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = question(query);
    if (name.startsWith('silent')) return;
    const isA = query.readUInt16BE(end) === 1;
    const record = RECORDS[name];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(record === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(record !== undefined && isA ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const parts = [header, query.subarray(12, end + 4)];
    if (record !== undefined && isA) {
      const answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4];
      parts.push(Buffer.from([...answer, ...record.split('.').map(Number)]));
    }
    socket.send(Buffer.concat(parts), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { socket, address: `127.0.0.1:${socket.address().port}` };
}

function question(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

t.test('the answer of the name server, or why there is none', async (t) => {
  const { socket, address } = await nameServer();
  t.teardown(() => socket.close());
  const hosts = { servers: [address], search: ['nowhere.test', 'example.test'] };
  const expected = ['192.0.2.7'];
  const ask = (name: string) => askFor(name, expected, hosts, soon());
  t.strictSame(await ask('api.sno.example.test'), {
    name: 'api.sno.example.test',
    addresses: ['192.0.2.7'],
    expected,
  });
  t.match(await ask('edge'), { name: 'edge', addresses: ['192.0.2.8'] }, 'in a domain of search');
  t.match(await ask('api-int.sno.example.test'), { addresses: [], error: 'ENOTFOUND' });
  const begun = performance.now();
  t.match(await ask('silent.example.test'), { addresses: [], error: 'ETIMEOUT' });
  t.ok(performance.now() - begun < 5000, 'within three seconds');
  t.match(await askFor('a.test', expected, { servers: [], search: [] }, soon()), {
    error: 'no name server',
  });
});

t.test('resolv.conf', async (t) => {
  const text = [
    '# nameserver 198.51.100.1',
    'search old.test',
    'nameserver 192.0.2.1',
    'nameserver\t2001:db8::1',
    'nameserver fe80::1%eth0',
    'nameserver proxy.example.test',
    'search sno.example.test  example.test',
    'options timeout:1',
  ].join('\n');
  t.strictSame(parseResolvConf(text), {
    servers: ['192.0.2.1', '2001:db8::1', 'fe80::1%eth0'],
    search: ['sno.example.test', 'example.test'],
  });
});
