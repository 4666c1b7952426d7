/**
 * The preflight's questions to DNS, asked by this system's own resolver of a real name server. Both
 * are in namespaces of their own, where /etc/resolv.conf names that server.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { z } from 'zod';

const HOST = '192.0.2.10';
const skip = process.getuid?.() !== 0 && 'namespaces need root';
const findings = z.record(
  z.string(),
  z.object({ ok: z.boolean(), problem: z.string().optional(), fact: z.string().optional() }),
);

/** The server ends with the namespace's first process. */
const IN_NAMESPACES = `
set -eu
mount --bind "$1" /etc/resolv.conf
ip link set lo up
dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --local=/test/ --bind-interfaces --pid-file= \\
  --listen-address=127.0.0.53 --user=root $2 &
for i in $(seq 100); do getent hosts ready.invalid. > /dev/null && break; sleep 0.1; done
exec "$3" "$4" "$5"
`;

/** The findings where the server has these records (dnsmasq's --address), and the host this search domain. */
async function ask(t: Test, search: string, records: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'sno-dns-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const resolvConf = join(folder, 'resolv.conf');
  writeFileSync(
    resolvConf,
    `search ${search}\nnameserver 127.0.0.53\noptions timeout:1 attempts:1\n`,
  );
  const all = { ...records, 'ready.invalid': '127.0.0.1' };
  const options = Object.entries(all).map(([name, address]) => `--address=/${name}/${address}`);
  const program = [process.execPath, join(import.meta.dirname, 'ask.ts'), HOST];
  const own = ['--mount', '--net', '--pid', '--fork', '--kill-child'];
  const script = ['sh', '-c', IN_NAMESPACES, 'sh', resolvConf, options.join(' '), ...program];
  const { stdout } = await execa('unshare', [...own, ...script], { timeout: 120_000 });
  return findings.parse(JSON.parse(stdout));
}

t.test('a search domain that answers every name', { skip }, async (t) => {
  const found = await ask(t, 'corp.test', { 'corp.test': HOST });
  for (const name of ['dns-api', 'dns-api-int', 'dns-apps', 'dns-hostname']) {
    t.match(found[name], { ok: false, problem: /ENOTFOUND/ }, name);
  }
  t.match(found['dns-search'], {
    ok: false,
    problem: `a name that does not exist is found in the search domain corp.test (${HOST})`,
  });
});

t.test(
  'right records, and a search domain that answers its own names only',
  { skip },
  async (t) => {
    const found = await ask(t, 'edge.example.test', {
      'api.edge.example.test': HOST,
      'api-int.edge.example.test': HOST,
      'apps.edge.example.test': HOST,
      'edge-0.example.test': HOST,
    });
    for (const name of Object.keys(found)) t.match(found[name], { ok: true }, name);
  },
);
