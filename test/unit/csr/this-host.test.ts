import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { viewOfThisHost } from '../../../lib/csr/this-host.ts';
import { readHostView } from '../../../lib/csr/views.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { captureBuiltins } from '../host/builtins.ts';

const on = (...addresses: string[]) =>
  addresses.map((address) => ({ address, internal: address === '127.0.0.1' }));

/** The kernel's interfaces, as reported by Node. */
function kernel(t: Test, interfaces: object) {
  captureBuiltins(t, () => {
    t.capture(os, 'networkInterfaces', () => interfaces);
  });
}

t.test('names and addresses are read from the host at each call', async (t) => {
  const folder = t.testdir({ hostname: 'static.example.com\n' });
  const file = join(folder, 'hostname');
  const identity = {
    hostname: 'running.example.com',
    nodeIps: ['192.0.2.10'],
    hostNameFile: file,
  };
  kernel(t, {
    lo: on('127.0.0.1'),
    eth0: on('192.0.2.10', 'FE80::1'),
    eth1: on('198.51.100.1'),
  });
  t.strictSame(await readHostView(identity), {
    nodeName: 'running.example.com',
    nodeIps: ['192.0.2.10'],
    staticHostName: 'static.example.com',
    interfaceAddresses: ['192.0.2.10', 'fe80::1'],
  });
  writeFileSync(file, '  renamed \n');
  t.equal((await readHostView(identity)).staticHostName, 'renamed');
  const without = { ...identity, hostNameFile: join(folder, 'none') };
  t.equal((await readHostView(without)).staticHostName, '', 'no /etc/hostname');
  const unreadable = { ...identity, hostNameFile: folder };
  await t.rejects(readHostView(unreadable), { code: 'EISDIR' });
});

t.test('addresses of the host are those in the machine networks', async (t) => {
  const folder = t.testdir({ programs: {}, root: { etc: { hostname: 'sno\n' } } });
  const info = (local: string, prefixlen: number) => ({ local, prefixlen, scope: 'global' });
  const shown = [
    { ifname: 'eth0', addr_info: [info('192.0.2.10', 24), info('2001:DB8:0::7', 64)] },
    { ifname: 'eth1', addr_info: [info('198.51.100.1', 24)] },
  ];
  const program = join(folder, 'programs', 'ip');
  writeFileSync(program, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(shown)}\nEND\n`);
  chmodSync(program, 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${join(folder, 'programs')}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  kernel(t, {
    eth0: on('192.0.2.10', '2001:db8::7'),
    eth1: on('198.51.100.1'),
  });
  const paths = hostPaths(join(folder, 'root'));
  mkdirSync(paths.at('/etc'), { recursive: true });
  const view = (...machineNetwork: string[]) =>
    viewOfThisHost(
      { cluster: { machineNetwork }, paths, hostname: () => 'edge' },
      AbortSignal.timeout(60_000),
    );
  t.strictSame(await view('192.0.2.0/24', '2001:db8::/32'), {
    nodeName: 'edge',
    nodeIps: ['192.0.2.10', '2001:db8::7'],
    staticHostName: 'sno',
    interfaceAddresses: ['192.0.2.10', '2001:db8::7'],
  });
  t.match(await view('198.51.100.0/24'), {
    nodeIps: ['198.51.100.1'],
    interfaceAddresses: ['198.51.100.1'],
  });
  const none = await view('203.0.113.0/24');
  t.strictSame([none.nodeIps, none.interfaceAddresses], [[], []], 'a family without an address');
});
