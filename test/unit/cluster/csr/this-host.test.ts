import { createHash, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { readHostView } from '../../../../lib/cluster/csr/host-view.ts';
import { viewOfThisHost } from '../../../../lib/cluster/csr/this-host.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { captureBuiltins } from '../../host/builtins.ts';

const on = (...addresses: string[]) =>
  addresses.map((address) => ({ address, internal: address === '127.0.0.1' }));

/** The kernel's interfaces, as reported by Node. */
function kernel(t: Test, interfaces: object) {
  captureBuiltins(t, () => {
    t.capture(os, 'networkInterfaces', () => interfaces);
  });
}

t.test('names, addresses and certificate are read from the host at each call', async (t) => {
  const folder = t.testdir({ hostname: 'static.example.com\n' });
  const file = join(folder, 'hostname');
  const identity = {
    hostname: 'running.example.com',
    registeredIps: ['192.0.2.10', '192.0.2.11'],
    hostNameFile: file,
    clientCertificateFile: join(folder, 'client.pem'),
  };
  kernel(t, {
    lo: on('127.0.0.1'),
    eth0: on('192.0.2.10', '192.0.2.77', 'FE80::1'),
    eth1: on('198.51.100.1'),
  });
  t.strictSame(await readHostView(identity), {
    nodeName: 'running.example.com',
    nodeIps: ['192.0.2.10'],
    staticHostName: 'static.example.com',
    clientCertificate: undefined,
  });
  writeFileSync(file, '  renamed \n');
  t.equal((await readHostView(identity)).staticHostName, 'renamed');
  const { certificate, key } = await createAuthority('a kubelet');
  writeFileSync(identity.clientCertificateFile, key + certificate);
  const digest = createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex');
  t.equal((await readHostView(identity)).clientCertificate, digest);
  writeFileSync(identity.clientCertificateFile, 'half a file');
  t.equal((await readHostView(identity)).clientCertificate, undefined);
  const without = { ...identity, hostNameFile: join(folder, 'none') };
  t.equal((await readHostView(without)).staticHostName, '', 'no /etc/hostname');
  const unreadable = { ...identity, hostNameFile: folder };
  await t.rejects(readHostView(unreadable), { code: 'EISDIR' });
});

t.test('addresses of the node are those that the kubelet is started with', async (t) => {
  const root = t.testdir({
    etc: {
      hostname: 'sno\n',
      'sno-agents': { 'kubelet.env': 'KUBELET_NODE_IPS=192.0.2.10,2001:DB8:0::7\n' },
    },
  });
  const view = () =>
    viewOfThisHost(
      {
        cluster: { machineNetwork: ['198.51.100.0/24'] },
        paths: hostPaths(root),
        hostname: () => 'sno',
      },
      AbortSignal.timeout(60_000),
    );
  kernel(t, { eth0: on('192.0.2.10', '2001:db8::7', '192.0.2.77'), eth1: on('198.51.100.1') });
  t.strictSame((await view()).nodeIps, ['192.0.2.10', '2001:db8::7']);
});

t.test('without such, they are those in the machine networks', async (t) => {
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
    clientCertificate: undefined,
  });
  t.strictSame((await view('198.51.100.0/24')).nodeIps, ['198.51.100.1']);
  t.strictSame((await view('203.0.113.0/24')).nodeIps, [], 'a family without an address');
});
