import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { runVerifyClean } from '../../../agents/commands/verify-clean/main.ts';
import { writeGoneKeys } from '../../../lib/cluster/installation/gone-keys.ts';
import { newEcKey, plantedKey } from '../secrets/key-scan-forms.ts';
import { type TestHost, testHost } from './host/host.ts';

const gone = plantedKey('gone', newEcKey());
const pem = (gone.forms['PEM, PKCS#8'] ?? Buffer.alloc(0)).toString();
const LAYERS = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots';

/** Long after the installation: its ledger is deleted. `entries`: of the journal, by unit. */
async function host(t: Test, entries: Readonly<Record<string, string>> = {}): Promise<TestHost> {
  const it = testHost(t);
  await writeGoneKeys(it.context.paths, [gone.fingerprint]);
  t.equal(it.mode('/var/lib/sno-agents/gone-keys.json'), 0o600);
  it.write('/etc/sno-agents/cluster.json', JSON.stringify(it.context.cluster));
  for (const [unit, text] of Object.entries(entries)) it.write(`/run/journal/${unit}`, text);
  const journal = it.at('/run/journal');
  it.programs.give(
    'journalctl',
    `case "$*" in
      *--field*) ls ${journal} 2>/dev/null; true ;;
      *_SYSTEMD_UNIT=*) cat "${journal}/\${*##*_SYSTEMD_UNIT=}" ;;
      *) for unit in ${journal}/*; do head -n 1 "$unit"; done 2>/dev/null; true ;;
    esac`,
  );
  return it;
}

async function command(it: TestHost, args: readonly string[] = []) {
  const lines: string[] = [];
  const take = (text: string) => void lines.push(text);
  const code = await runVerifyClean(it.context.paths, args, { write: take, writeError: take });
  return { code, text: lines.join('') };
}

t.test('a clean host, with the list of keys but without the keys', async (t) => {
  const it = await host(t, { 'kubelet.service': 'nothing to see\n' });
  it.write('/etc/other.key', plantedKey('other', newEcKey()).forms['PEM, PKCS#8'] ?? '');
  const { code, text } = await command(it);
  t.match(text, /^Clean: \d+ files, 0 MB, and the journal have 1 private keys, none of the 1 that/);
  t.equal(code, 0);
});

const places: [title: string, path: string, contents: string | Buffer][] = [
  ['under another name', '/srv/holiday.jpg', pem],
  ['in a tarball', '/root/backup.tar', `${'x'.repeat(512)}${pem}`],
  ['in a compressed tarball', '/home/core/backup.tgz', gzipSync(`${'x'.repeat(512)}${pem}`)],
  ['in the layer of a stopped container', `${LAYERS}/17/fs/tmp/key`, pem],
  ['in a layer of CRI-O', '/var/lib/containers/storage/overlay/abc/diff/key', pem],
];
for (const [title, path, contents] of places) {
  t.test(`a key ${title}`, async (t) => {
    const it = await host(t);
    it.write(path, contents);
    const { code, text } = await command(it);
    t.equal(code, 4);
    t.match(text, `a private key of the bootstrap is in ${path}`);
    t.notMatch(text, gone.fingerprint);
  });
}

t.test('a key in the journal, one line an entry', async (t) => {
  const it = await host(t, { 'debug.service': `starting\n${pem}done\n`, 'kubelet.service': 'x\n' });
  const { code, text } = await command(it);
  t.equal(code, 4);
  t.match(text, 'is in the journal of debug.service;');
});

t.test('a host whose installation is not complete', async (t) => {
  const it = await host(t);
  it.remove('/var/lib/sno-agents/gone-keys.json');
  t.match(await command(it), { code: 2, text: /has no list of deleted keys/ });
  it.write('/var/lib/sno-agents/gone-keys.json', '{"schemaVersion":1,"goneKeys":["x"]}');
  t.match(await command(it), { code: 4, text: /gone-keys\.json cannot be used/ });
});

t.test('arguments', async (t) => {
  const it = await host(t);
  t.equal((await command(it, ['--nonsense'])).code, 2);
});

t.test('a host that never had such a key', async (t) => {
  const it = await host(t);
  it.write('/var/lib/sno-agents/gone-keys.json', '{"schemaVersion":1,"goneKeys":[]}');
  t.match(await command(it), { code: 0, text: /had no key that it deleted/ });
});
