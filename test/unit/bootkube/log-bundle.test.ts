import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { extract } from 'tar-stream';
import { objectsFolder } from '../../../agents/bootkube/api-objects.ts';
import { bundlePath, logBundle } from '../../../agents/bootkube/log-bundle.ts';
import { MAX_READ_BYTES, MAX_SOURCE_LENGTH } from '../../../agents/bootkube/log-bundle-sources.ts';
import { journalPath } from '../../../lib/steps/agent-command.ts';
import { liveHost } from './live-host.ts';

/** A line of a key in PEM, told apart from any other by its number. */
const keyLine = (number: number) => `MIGHAgEA${String(number).padStart(8, '0')}`.repeat(4);
const BODY = /MIGHAgEA/;
const key = (lines: number) =>
  [
    '-----BEGIN RSA PRIVATE KEY-----',
    ...Array.from({ length: lines }, (_, number) => keyLine(number)),
    '-----END RSA PRIVATE KEY-----',
  ].join('\n');

/** Stands in for the journal: a real program, found first in PATH. */
function journalctl(t: Test, script: string): void {
  const folder = t.testdir({ journalctl: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, 'journalctl'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
}

/** A live host in a folder of the test's own, beside the one that has the program. */
function host(t: Test) {
  const root = join(t.testdirName, 'host');
  mkdirSync(root, { recursive: true });
  return liveHost(root);
}

async function unpacked(path: string) {
  const files = new Map<string, { mode: number | undefined; text: string }>();
  const archive = extract();
  Readable.from([gunzipSync(readFileSync(path))]).pipe(archive);
  for await (const entry of archive) {
    const name = entry.header.name.replace(/^log-bundle-bootstrap\//, '');
    files.set(name, { mode: entry.header.mode, text: await text(entry) });
  }
  return files;
}

t.test('the bundle has every source, in the layout of the installer', async (t) => {
  journalctl(t, 'echo "journal $*"');
  const { context, paths, write, progress } = host(t);
  write(paths.at('/var/log/pods/etcd/0.log'), 'etcd is ready\n');
  mkdirSync(paths.at('/var/log/containers'), { recursive: true });
  symlinkSync('../pods/etcd/0.log', paths.at('/var/log/containers/etcd.log'));
  write(join(paths.serviceRecords, 'bootkube.json'), '[{"phase":"service start"}]');
  write(join(objectsFolder(context), 'pods.json'), '{"items":[{"metadata":{"name":"etcd"}}]}');
  write(journalPath(paths, 'bootkube'), '{"step":"etcd","event":"done"}\n');

  const outcome = await logBundle.run(context, progress());
  const files = await unpacked(bundlePath(context));
  t.same(outcome, { kind: 'done', note: `${files.size} files` });
  t.ok(await logBundle.holds(context, progress()));
  t.equal(statSync(bundlePath(context)).mode & 0o777, 0o600);
  t.same([...files.keys()].toSorted(), [
    'bootstrap/containers/etcd.log',
    'bootstrap/journals/approve-csr.log',
    'bootstrap/journals/bootkube.log',
    'bootstrap/journals/containerd.log',
    'bootstrap/journals/crio.log',
    'bootstrap/journals/install-to-disk.log',
    'bootstrap/journals/kubelet.log',
    'bootstrap/journals/progress.log',
    'bootstrap/journals/sno-executable.log',
    'bootstrap/journals/sno-network.log',
    'bootstrap/journals/warnings.log',
    'bootstrap/services/bootkube.json',
    'bootstrap/steps/bootkube.jsonl',
    'resources/pods.json',
  ]);
  for (const [name, { mode }] of files) t.equal(mode, 0o600, name);
  t.match(files.get('bootstrap/journals/kubelet.log')?.text, '--unit=kubelet');
  t.match(files.get('bootstrap/journals/warnings.log')?.text, '--priority=warning');
  t.equal(files.get('bootstrap/containers/etcd.log')?.text, 'etcd is ready\n');
  t.match(files.get('resources/pods.json')?.text, '"name":"etcd"');
  t.match(files.get('bootstrap/steps/bootkube.jsonl')?.text, '"event":"done"');
  t.match(files.get('bootstrap/services/bootkube.json')?.text, 'service start');
});

t.test('no source can carry a secret into the bundle', async (t) => {
  journalctl(t, `echo 'started with password=hunter2 on edge-0'; cat <<'KEY'\n${key(3)}\nKEY`);
  const { context, paths, write, progress } = host(t);
  const log = (name: string) => join(paths.at('/var/log/containers'), name);
  const filler = `${'x'.repeat(99)}\n`;
  // The newest part begins in the middle of the key.
  const after = Math.round((MAX_SOURCE_LENGTH - 1_000) / filler.length);
  write(log('cut-by-the-bundle.log'), `${key(30)}\n${filler.repeat(after)}`);
  const encoded = Buffer.from(key(30)).toString('base64');
  write(log('cut-in-base64.log'), `client-key-data: ${encoded}\n${filler.repeat(after)}`);
  // So does what is read, and what the log still has after its rotation.
  const hidden = `password=${'y'.repeat(990)}\n`;
  const read = Math.round((MAX_READ_BYTES - 1_000) / hidden.length);
  write(log('cut-by-the-reading.log'), `${key(30)}\n${hidden.repeat(read)}`);
  write(log('cut-before.log'), `${key(30).slice(200)}\nafter the key\n`);
  write(log('not-ended.log'), `before the key\n${key(3).slice(0, 100)}`);
  write(
    join(objectsFolder(context), 'configmaps.json'),
    JSON.stringify({ items: [{ data: { 'tls.key': key(3), note: 'kept' } }] }),
  );
  await logBundle.run(context, progress());

  const files = await unpacked(bundlePath(context));
  for (const [name, { text }] of files) {
    t.notMatch(text, BODY, name);
    t.notMatch(text, 'hunter2', name);
    t.notMatch(text, encoded.slice(-200, -100), name);
    t.ok(text.length <= MAX_SOURCE_LENGTH + 40, `${name}: ${text.length}`);
  }
  t.match(files.get('bootstrap/journals/bootkube.log')?.text, /<redacted> on edge-0/);
  t.match(files.get('bootstrap/containers/cut-by-the-bundle.log')?.text, filler);
  t.match(files.get('bootstrap/containers/cut-before.log')?.text, 'after the key');
  t.match(files.get('bootstrap/containers/not-ended.log')?.text, 'before the key');
  t.match(files.get('resources/configmaps.json')?.text, 'kept');
});

t.test('only the newest part of a long source is taken', async (t) => {
  journalctl(t, 'echo short');
  const { context, paths, write, progress } = host(t);
  const lines = Array.from({ length: 400_000 }, (_, number) => `line ${number}`);
  write(join(paths.at('/var/log/containers'), 'long.log'), lines.join('\n'));
  await logBundle.run(context, progress());
  const long = (await unpacked(bundlePath(context))).get('bootstrap/containers/long.log')?.text;
  t.match(long, /^\(the beginning was left out\)\n/);
  t.match(long, /line 399999$/);
  t.notMatch(long, 'line 0\n');
});

t.test('a source that fails leaves its reason in its place', async (t) => {
  journalctl(t, 'case "$*" in *kubelet*) echo "No journal" >&2; exit 3;; esac; echo fine');
  const { context, paths, progress } = host(t);
  mkdirSync(join(paths.at('/var/log/containers'), 'a-folder.log'), { recursive: true });
  t.match(await logBundle.run(context, progress()), { kind: 'done', note: /^\d+ files$/ });
  const files = await unpacked(bundlePath(context));
  t.match(
    files.get('bootstrap/journals/kubelet.log')?.text,
    /^could not be read: .*journalctl.*exit code 3.*No journal/,
  );
  t.equal(files.get('bootstrap/journals/bootkube.log')?.text, 'fine');
  t.match(files.get('bootstrap/containers/a-folder.log')?.text, /^could not be read: EISDIR/);
  t.match(files.get('bootstrap/steps/bootkube.jsonl')?.text, /^could not be read: ENOENT/);
});

t.test('a bundle that cannot be made fails nothing', async (t) => {
  journalctl(t, 'echo fine');
  const { context, paths, lines, progress } = host(t);
  // A file where its folder should be: no place to write to, for root either.
  mkdirSync(paths.at('/opt'), { recursive: true });
  writeFileSync(paths.assets, '');
  t.match(await logBundle.run(context, progress()), { kind: 'done', note: /^not made: E/ });
  t.ok(await logBundle.holds(context, progress()), 'the step is done without a bundle');
  t.match(lines.join(''), /There will be no log bundle: E/);
});

t.test('a journal that hangs ends before the deadline of the step does', async (t) => {
  journalctl(t, 'exec sleep 30');
  const { context, progress } = host(t);
  const began = performance.now();
  const outcome = await logBundle.run(context, progress(AbortSignal.timeout(2_000), 1_000));
  t.match(outcome, { kind: 'done', note: /^not made: / });
  t.ok(performance.now() - began < 1_000);
});

t.test('an agent that is told to stop does not call the step done', async (t) => {
  journalctl(t, 'exec sleep 30');
  const { context, progress } = host(t);
  const reason = new Error('told to stop');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 100);
  await t.rejects(logBundle.run(context, progress(stop.signal)), reason);
});
